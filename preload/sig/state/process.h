/* SPDX-License-Identifier: MIT
 *
 * The state of this process's profile that all parts of the handler share: to
 * which process it belongs, whether it runs, its clock, its counters.
 * Runs in: handler, any thread. */
#ifndef JP_PROCESS_H
#define JP_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

#include "clock_kind.h"
#include "config.h"

/* The process that the profile belongs to, in memory that fork wipes: pid 0
 * means that this is a forked child that has not been set up yet, and that no
 * state here is its own. */
struct jp_owner {
    uint32_t pid;
};
extern struct jp_owner *jp_owner;

/* Whether this process has been set up for profiling.  It has not in a program
 * without flags, nor in a forked child before jp_fork_child. */
static inline int jp_process_ready_sig(void)
{
    return jp_owner != NULL && jp_owner->pid != 0;
}

/* Why a profile ended though the process goes on: for something that its
 * children have, too; or not (PR_SET_SYSCALL_USER_DISPATCH), so that a child
 * begins where this process was: the profile ran then, or it did not. */
enum { JP_ENDED_NOT, JP_ENDED_FOR_ALL, JP_ENDED_HERE, JP_ENDED_HERE_RUNNING };

struct jp_process {
    uint8_t is_child;         /* not the first process of the tree */
    uint8_t tells_again;      /* jp_arch_tells_again's answer */
    uint8_t has_keys;         /* jp_arch_has_keys's answer */
    uint8_t in_valgrind;      /* jp_arch_in_valgrind's answer: the mask in a
                                 handler's context may not be the thread's once
                                 the handler has returned, and a signal's frame
                                 may not make the first thread's stack grow */
    uint32_t forked_by;       /* pid of the process that forked this one, as
                                 that process knew it; 0: this image began with
                                 exec */
    uint32_t root;            /* pid of the tree's first process */
    uint32_t root_space;      /* inode of that process's pid namespace; 0:
                                 unknown */
    uint64_t root_ticks;      /* and its start time, field 22 of its
                                 /proc/PID/stat; 0: unknown */
    uint64_t cpu_before_ns;   /* CPU time when its profile could begin */
    char folder[JP_PATH_MAX]; /* absolute: what a relative JP_FILENAME starts
                                 from; "": unknown */
    uint64_t program_headers; /* address of the executable's program headers */
    uint32_t program_header_count;
    uint64_t program_bias; /* what to add to the executable's ELF addresses */
    uint64_t page_size;
    uint64_t tick_ns; /* the kernel's tick, at which CPU timers run out */
    _Atomic uint32_t running;       /* 1: the profile runs */
    _Atomic uint32_t first_pending; /* 1: JP_FIRST's time has not passed */
    _Atomic uint32_t sections;      /* how often the profile was started */
    _Atomic uint32_t ended;         /* JP_ENDED_*: nothing starts it again */
    _Atomic uint32_t shared; /* signals to the process that jprof's handler got:
                                each may have woken another thread, too */
    _Atomic uint32_t handled; /* the same of the program's handlers */
    /* When section 0 began, and the process's CPU time then: kept here since
     * the map is made later. */
    _Atomic uint64_t first_section_ns, first_section_cpu_ns;
    _Atomic uint32_t notes;            /* JP_NOTE_* of this profile */
    const struct jp_clock_kind *clock; /* in use; never NULL */
    int signal;                        /* that the clock sends */
    int watching; /* that the slow timer sends: another, if one is free, as it
                     finds out that the program has taken the clock's */
};
extern struct jp_process jp_process;

/* Adds `amount` to a counter of the log's header (enum jp_counter); while there
 * is no header, to an array that jp_counters_use_sig moves into it. */
void jp_count_sig(unsigned counter, uint64_t amount);

/* Adds what was counted before there was a log to the header's array `counters`
 * and counts there from now on.  NULL: counts in jprof's own array again,
 * from 0. */
void jp_counters_use_sig(uint64_t *counters);

/* What a positive errno means, in words; NULL for an unexpected one. */
const char *jp_error_text_sig(int error);

/* Writes one line about a failure of the profile to stderr: `jprof: `, a, b
 * (may be NULL) and, unless error is 0, what this positive errno means.  Bytes
 * that are no printable ASCII become '?'. */
void jp_complain_sig(const char *a, const char *b, int error);

#endif
