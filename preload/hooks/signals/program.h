/* SPDX-License-Identifier: MIT
 *
 * The program's own signal handlers.  The kernel has jprof's
 * jp_program_handler in their place, which counts their runs for the hooks,
 * puts them off while jprof is in its own work, and keeps signals that are
 * jprof's from them.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_PROGRAM_H
#define JP_PROGRAM_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <ucontext.h>

#include "sig/entry.h"

/* What the program asked for, for each signal. */
struct jp_program {
    /* The address of its handler and JP_PROGRAM_* bits; SIG_DFL or SIG_IGN if
     * jp_program_handler stands in for that. */
    _Atomic uint64_t handler;
    uint64_t stripped;      /* signals of its sa_mask that the kernel's lacks */
    struct sigaction asked; /* the action as the program set it */
};
extern struct jp_program jp_programs[65];

/* Bits that no address of a program's code has. */
#define JP_PROGRAM_SIGINFO (1ULL << 63)
#define JP_PROGRAM_ONCE (1ULL << 62) /* SA_RESETHAND, not done by the kernel */
#define JP_PROGRAM_ADDRESS (JP_PROGRAM_ONCE - 1)

/* The handler that runs the program's. */
void jp_program_handler(int signal, siginfo_t *info, void *context);

/* For a signal that was jprof's when the program blocked it in this thread, so
 * that it stayed unblocked, and that is the program's now: blocks it from here
 * on, and sends it again, to wait or to find another thread.  Called in the
 * handler of the signal. */
void jp_program_defer(int signal, siginfo_t *info, ucontext_t *context);

/* What the kernel is given as that (SA_SIGINFO): see sig/entry.h. */
jp_entry_function *jp_program_entry(void);

#endif
