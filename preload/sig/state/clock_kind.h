/* SPDX-License-Identifier: MIT
 *
 * One kind of clock, as a row of a table: what it is, and the functions by
 * which all else asks it.  Each kind's row is at the end of its own file in
 * sig/clock/; clock.c has the list of them.  To add a clock: its id and name
 * in jp_log.h, its file, its line in that list.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_KIND_H
#define JP_CLOCK_KIND_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

struct jp_budget;
struct jp_thread;

/* With a period that is longer than asked for, what is left of it when the
 * clock stops is written from this length on. */
#define JP_CLOCK_FLUSH_MIN_NS 1000000U

/* A signal of a clock's. */
struct jp_signal {
    int number;
    const siginfo_t *info;
    const ucontext_t *context;
    uint64_t now_ns; /* CLOCK_MONOTONIC, when its handler began */
    /* Whether the calling thread's stack is that of its last sample: 1, 0, or
     * -1 where there is none to compare it with.  Walks the stack. */
    int (*same)(struct jp_thread *thread, const ucontext_t *context,
                uint64_t now_ns);
};

/* What a signal stands for, in ns; any part may be 0. */
struct jp_due {
    uint64_t cpu;     /* CPU time, of a clock that counts that */
    uint64_t before;  /* real time: blocked where the thread was found last */
    uint64_t running; /* where it is now */
    uint64_t blocked;
    uint64_t ready;      /* waiting for a CPU */
    uint64_t after;      /* blocked, or ready, when it was already known to be
                             there */
    uint64_t counted_ns; /* what the handler's budget grows with */
    int probes;          /* the clock's next interrupt may be waited for */
    int after_ready;     /* after: ready */
};

struct jp_clock_kind {
    uint32_t id;            /* enum jp_clock */
    uint8_t per_thread;     /* each thread has one; else the process has */
    uint8_t cpu;            /* it counts CPU time */
    uint8_t interrupts;     /* each of its signals is an interrupt of its
                                 own: not one that the kernel's tick is for */
    uint8_t exact;          /* what it counted since the last sample can be
                                 read when it stops */
    uint8_t outlives_exec;  /* unless it is stopped */
    uint8_t sees_waits;     /* threads that wait are sampled as well */
    uint8_t is_itimer_prof; /* it takes the timer of setitimer(2) */

    /* Whether this process may have it, tried out; NULL: it may. */
    int (*allowed)(void);
    uint32_t note_used, note_refused; /* JP_NOTE_*, or 0 */

    /* Whether it can send this signal; NULL: any.  When the program takes the
     * signal, give_up (may be NULL) ends what is open, and `then` follows. */
    int (*sends)(int signal);
    void (*give_up)(void);
    const struct jp_clock_kind *then;

    /* Whether a signal is of this clock; what it stands for.  due: 0: it is no
     * sample at all.  done (may be NULL): the sample has been taken. */
    int (*owns)(const struct jp_signal *signal);
    int (*due)(struct jp_thread *thread, const struct jp_signal *signal,
               struct jp_due *due);
    void (*done)(struct jp_thread *thread);

    /* What no sample stands for yet when a thread or the profile ends, and the
     * thread gets no more signals.  Returns whether there is anything.  May be
     * called by another thread.  NULL: nothing is ever left. */
    int (*flush)(struct jp_thread *thread, struct jp_due *due);

    /* One a thread: arm and pace return 0 or -errno, pace sets it to the
     * period of the record's budget. */
    const struct jp_clock_kind *begins_with; /* until that runs out first */
    int (*arm)(struct jp_thread *thread);
    void (*disarm)(struct jp_thread *thread);
    int (*pace)(struct jp_thread *thread);
    /* The calling thread's record that a signal is for; NULL: it has ended. */
    struct jp_thread *(*find)(const struct jp_signal *signal);
    /* What a signal stands for that finds its thread in the handler, and so
     * is added to the next; or, without a record, is lost.  NULL: nothing. */
    uint64_t (*untaken)(struct jp_thread *thread,
                        const struct jp_signal *signal);
    /* The program's filter, known but not yet installed, will forbid to set
     * timers: makes the thread's clock go on by itself.  NULL: it does. */
    void (*fence)(const struct jp_thread *thread);
    /* What it counted since the last sample, where its period is longer than
     * asked for.  NULL: nothing. */
    uint64_t (*unsampled)(struct jp_thread *thread);
    /* CPU time of the thread that no delivered signal covered, at its end.
     * NULL: none. */
    uint64_t (*missed_ticks)(struct jp_thread *thread);

    /* One for the process: run sets it going (1) or stops it, and returns 0 or
     * -errno; take gives its budget to one thread at a time (NULL: another has
     * it), give takes it back, with whether its period has changed. */
    int (*run)(int on);
    struct jp_budget *(*take)(void);
    void (*give)(int changed);

    /* May be NULL.  In a forked child; and whether a descriptor there is of
     * the parent's clock. */
    void (*forked)(void);
    int (*is_descriptor)(int fd);
};

/* No clock: samples by raised signals only. */
extern const struct jp_clock_kind jp_clock_none;

#endif
