/* SPDX-License-Identifier: MIT
 *
 * What the hooks remember for each thread.  Thread-local, and so never touched
 * by the handler, which has the record.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_LOCAL_H
#define JP_LOCAL_H

#include <signal.h>
#include <stdint.h>

#include "sig/state/thread.h"

struct jp_local {
    struct jp_thread *thread; /* the thread's, while its generation is this */
    uint32_t generation;
    volatile uint32_t theirs; /* handlers of the program's that ran here */
    uint64_t
        program_blocked; /* of the signals that jprof keeps unblocked, those
                              that the program believes it has blocked */
    uint32_t
        vfork_child; /* the last that jp_local_begin_vfork_child saw */
};
extern __thread struct jp_local jp_local;

/* The calling thread's record; a thread that has none yet is given one.  NULL
 * when there are no more. */
struct jp_thread *jp_local_thread(void);

/* The calling thread begins: unblocks the clock, and takes what was blocked
 * until now as the program's wish. */
void jp_local_begin(struct jp_thread *thread);

/* The same for the thread of a forked child, which keeps its wishes. */
void jp_local_forked(void);

/* Around an exec: SIG_BLOCK makes the mask what the program believes that it
 * is, as the new program inherits it; SIG_UNBLOCK, if that failed, ends it. */
void jp_local_exec(int how);

/* In a vfork child, before it changes its mask or hands it on: makes the mask,
 * which is its own, what the program believes that it is.  It stays so, as no
 * clock runs there. */
void jp_local_begin_vfork_child(void);

/* Whether this is a vfork child, which only borrows the memory: tables of the
 * parent's must not be changed.  A system call. */
int jp_local_is_vfork_child(void);

/* A program's set as the kernel's, and the other way round. */
uint64_t jp_local_bits(const sigset_t *set);
void jp_local_to_sigset(sigset_t *set, uint64_t bits);

/* A mask of the program's for one call, without the clock's signals. */
sigset_t jp_local_without_clock(const sigset_t *mask);

/* Sets of more signals than this are "all", not a choice. */
#define JP_LOCAL_CHOICE 24

/* Of a mask that the kernel had, or that a handler of the program's begins
 * with: the clock's signals that the program takes for blocked.  Those that are
 * in it, and all of them where it holds nearly all signals. */
uint64_t jp_local_program_blocked(uint64_t mask);

#endif
