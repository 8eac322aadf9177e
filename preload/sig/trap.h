/* SPDX-License-Identifier: MIT
 *
 * Faults of jprof's own: a stack whose memory another thread takes away while
 * it is read, and a log that somebody has cut short.  As long as the program
 * leaves SIGSEGV and SIGBUS to their default action, the kernel has
 * jp_trap_sig for them: such a fault is survived, and any other does what it
 * would have done.
 * Runs in: handler, any thread. */
#ifndef JP_TRAP_H
#define JP_TRAP_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <ucontext.h>

struct jp_buffer;
struct jp_thread;
struct jp_trap;

/* Signals that the kernel has jp_trap_sig for (JP_SIGSET). */
extern _Atomic uint64_t jp_trapped;

/* The handler for sigaction (SA_SIGINFO). */
void jp_trap_sig(int signal, siginfo_t *info, void *context);

/* jp_walk_sig, or JP_TRAP_FAULT: it has come to memory that cannot be read. */
#define JP_TRAP_FAULT (-1)
int jp_trap_walk_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                     const ucontext_t *context, struct jp_trap *trap);

/* Of the calling thread, while it is in there; else NULL. */
extern _Thread_local struct jp_trap *volatile jp_trap_here;

/* Has the signals trapped open in the calling thread, which is at something of
 * jprof's, with the mask `blocked` before that; what others send it meanwhile
 * stays blocked if it was.  Until jp_trap_close_sig, and the mask is set back.
 * */
void jp_trap_open_sig(uint64_t blocked);
void jp_trap_close_sig(void);

#endif
