/* SPDX-License-Identifier: MIT
 *
 * What the parts of the storm share.  An activity is a thread that does a thing
 * again and again until the storm is over, and checks what came of it.
 * Runs in: tests. */
#ifndef STORM_H
#define STORM_H

#ifdef __cplusplus
extern "C" {
#endif

struct storm_activity {
    const char *name;
    void (*round)(struct storm_activity *self);
    unsigned pause_us; /* between two rounds, about */
    unsigned long rounds, wrong;
};

/* Whether it is over, for rounds that take long. */
int storm_is_over(void);

/* Counts a wrong outcome and, of the first ones, says what it was. */
void storm_wrong(struct storm_activity *self, const char *what, int line);

#define STORM_CHECK(self, condition)                                           \
    do {                                                                       \
        if (!(condition))                                                      \
            storm_wrong(self, #condition, __LINE__);                           \
    } while (0)

/* CPU work of about so many us. */
unsigned long storm_work(unsigned us);

/* Waits for a child; its exit status, or -1 when it did not exit. */
int storm_status_of(int pid);

/* Runs before any activity begins. */
void storm_signals_init(void);

/* The program's own path, and the libraries that it was given. */
extern const char *storm_self, *storm_libraries[2];

extern struct storm_activity storm_contexts[], storm_io[], storm_loads[],
    storm_processes[], storm_sandbox[], storm_signals[], storm_threads[];

#ifdef __cplusplus
}
#endif

#endif
