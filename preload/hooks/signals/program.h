/* SPDX-License-Identifier: MIT
 *
 * The program's own signal handlers, which the kernel reaches through one
 * function of jprof's: it counts them, for the hooks that must know whether
 * one ran, and keeps signals with jprof's values from them.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_PROGRAM_H
#define JP_PROGRAM_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

/* What the program asked for, one entry a signal. */
struct jp_program {
    /* Its handler, with JP_PROGRAM_* below; SIG_DFL or SIG_IGN where
     * jp_program_handler stands in for that. */
    _Atomic uint64_t handler;
    uint64_t stripped;      /* of its sa_mask, what the kernel was not given */
    struct sigaction asked; /* for signals that are or were jprof's */
};
extern struct jp_program jp_programs[65];

/* In the bits of an address that no program's code has. */
#define JP_PROGRAM_SIGINFO (1ULL << 63)
#define JP_PROGRAM_ONCE (1ULL << 62) /* SA_RESETHAND, not done by the kernel */
#define JP_PROGRAM_ADDRESS (JP_PROGRAM_ONCE - 1)

/* The handler for sigaction (SA_SIGINFO). */
void jp_program_handler(int signal, siginfo_t *info, void *context);

#endif
