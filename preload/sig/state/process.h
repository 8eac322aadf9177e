/* SPDX-License-Identifier: MIT
 *
 * The state of this process's profile that every part of the handler shares:
 * whose it is, whether it runs, what was lost, what it is called.
 * Runs in: handler, any thread. */
#ifndef JP_PROCESS_H
#define JP_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

#include "clock_kind.h"
#include "config.h"

/* In memory that fork wipes: a zero pid means that this is a forked child
 * which has not been set up, and nothing here is its own. */
struct jp_owner {
    uint32_t pid;
};
extern struct jp_owner *jp_owner;

/* Whether this process is set up: 0 before, and in a fresh forked child. */
static inline int jp_process_ready_sig(void)
{
    return jp_owner != NULL && jp_owner->pid != 0;
}

struct jp_process {
    uint8_t is_child;         /* not the first process of the tree */
    uint32_t forked_by;       /* the pid that its maker has for itself; 0:
                                   it began with exec */
    uint32_t root;            /* pid of that first process, */
    uint32_t root_space;      /* and its pid namespace's inode; 0: unknown */
    uint64_t cpu_before_ns;   /* CPU time when the library came into it */
    char folder[JP_PATH_MAX]; /* absolute, for a relative file name; "" when
                                   it is not known */
    uint64_t program_headers; /* address of the executable's, and count */
    uint32_t program_header_count;
    uint64_t program_bias; /* what its ELF addresses are off by */
    uint64_t page_size;
    uint64_t tick_ns;         /* of the kernel, at which CPU timers run out */
    _Atomic uint32_t running; /* timers are wanted */
    _Atomic uint32_t first_pending; /* JP_FIRST has not passed yet */
    _Atomic uint32_t sections;      /* starts so far */
    _Atomic uint32_t shared; /* signals to the process that jprof's handler
                                   got: each may have woken another thread */
    /* When section 0 began, and its CPU time: there may be no map yet. */
    _Atomic uint64_t first_section_ns, first_section_cpu_ns;
    _Atomic uint32_t notes; /* JP_NOTE_*: to be written with the map */
    const struct jp_clock_kind *clock; /* in use; never NULL */
    int signal;                        /* the clock's signal */
};
extern struct jp_process jp_process;

/* Adds to a counter of the log's header (enum jp_counter), or keeps the count
 * until there is a header. */
void jp_count_sig(unsigned counter, uint64_t amount);

/* Moves what was counted so far into the header's array and goes on there;
 * NULL: back to the array of our own, emptied. */
void jp_counters_use_sig(uint64_t *counters);

/* What a positive errno means, NULL for one that is not expected. */
const char *jp_error_text_sig(int error);

/* One line `jprof: A B` on stderr about a failure of the profile; error is a
 * positive errno, or 0 for none.  B may be NULL. */
void jp_complain_sig(const char *a, const char *b, int error);

#endif
