/* SPDX-License-Identifier: MIT
 *
 * What the hooks remember for each thread.  Thread-local, and so never touched
 * by the handler, which has the slot.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_LOCAL_H
#define JP_LOCAL_H

#include <signal.h>
#include <stdint.h>

#include "sig/slot.h"

struct jp_local {
    struct jp_slot *slot;  /* the thread's, while its generation is this */
    uint32_t generation;
    volatile uint32_t theirs; /* handlers of the program's that ran here */
    uint64_t view;         /* of the signals that jprof keeps unblocked, those
                              that the program believes it has blocked */
    uint32_t lent;         /* the last vfork child that jp_local_lend saw */
};
extern __thread struct jp_local jp_local;

/* The calling thread's slot; a thread that has none yet is given one.  NULL
 * when there are no more. */
struct jp_slot *jp_local_slot(void);

/* The calling thread begins: unblocks the clock, and takes what was blocked
 * until now as the program's wish. */
void jp_local_begin(struct jp_slot *slot);

/* The same for the thread of a forked child, which keeps its wishes. */
void jp_local_forked(void);

/* Around an exec: SIG_BLOCK makes the mask what the program believes that it
 * is, as the new program inherits it; SIG_UNBLOCK, if that failed, ends it. */
void jp_local_exec(int how);

/* In a vfork child, before it changes its mask or hands it on: makes the mask,
 * which is its own, what the program believes that it is.  It stays so, as no
 * clock runs there. */
void jp_local_lend(void);

/* Whether this is a vfork child, which only borrows the memory: tables of the
 * parent's must not be changed.  A system call. */
int jp_local_is_borrowed(void);

/* A program's set as the kernel's, and the other way round. */
uint64_t jp_local_set(const sigset_t *set);
void jp_local_get(sigset_t *set, uint64_t bits);

#endif
