/* SPDX-License-Identifier: MIT
 *
 * Surviving faults of jprof's own: a stack whose memory another thread unmaps
 * while it is read, and a log that somebody has cut short.  While the program
 * leaves SIGSEGV and SIGBUS to their default action, the kernel has jp_trap_sig
 * for them.  It survives such a fault; any other does what it would have done
 * without jprof.
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

/* The signals for which the kernel has jp_trap_sig (JP_SIGSET). */
extern _Atomic uint64_t jp_trapped;

/* The handler for sigaction (SA_SIGINFO). */
void jp_trap_sig(int signal, siginfo_t *info, void *context);

/* Calls jp_walk_sig and returns what it does, or JP_TRAP_FAULT when the walk
 * read memory that is not there.  *trap keeps the registers to go back to. */
#define JP_TRAP_FAULT (-1)
int jp_trap_walk_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                     const ucontext_t *context, struct jp_trap *trap);

/* The trap of the walk that the calling thread is in; NULL outside of walks. */
extern _Thread_local struct jp_trap *volatile jp_trap_here;

/* Unblocks the trapped signals in the calling thread, whose mask was `blocked`
 * before jprof's handler or critical section began.  One that was blocked then
 * and is sent by another process or thread stays blocked. */
void jp_trap_open_sig(uint64_t blocked);

/* Ends jp_trap_open_sig; the caller sets the mask back. */
void jp_trap_close_sig(void);

#endif
