/* SPDX-License-Identifier: MIT
 *
 * What the hooks remember for each thread.  It is thread-local, and the handler
 * never touches it; the handler has the thread's record.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_LOCAL_H
#define JP_LOCAL_H

#include <signal.h>
#include <stdint.h>

#include "sig/state/thread.h"

struct jp_local {
    struct jp_thread *thread; /* the thread's record, valid while */
    uint32_t generation;      /* the record's generation is this */
    volatile uint32_t theirs; /* how often handlers of the program ran here */
    uint64_t program_blocked; /* of the signals that jprof keeps unblocked,
                                  those that the program believes blocked */
    uint64_t named;           /* those of them that it blocked by name, not as
                                  some of "all"; others may stand here, too */
    uint32_t vfork_child;     /* pid of the last vfork child that
                                  jp_local_begin_vfork_child saw */
};
extern __thread struct jp_local jp_local;

/* The calling thread's record; a thread that has none is given one, and armed.
 * NULL in a vfork child, when there are no more records, and where a filter
 * forbids to ask for the thread's id. */
struct jp_thread *jp_local_thread(void);

/* The calling thread's record, if jp_local_thread has found it before; else
 * NULL.  Makes no system call. */
struct jp_thread *jp_local_known_thread(void);

/* Called when a thread begins: unblocks the clock's signals in it, and
 * remembers which of them were blocked as what the program believes blocked. */
void jp_local_begin(struct jp_thread *thread);

/* Called in the thread of a forked child: forgets the parent's record, but not
 * what the program believes blocked. */
void jp_local_forked(void);

/* Called around an exec.  SIG_BLOCK: blocks what the program believes blocked,
 * as the new program inherits the mask.  SIG_UNBLOCK: ends that, after the exec
 * has failed. */
void jp_local_exec(int how);

/* Called in a vfork child before it changes its mask or execs: blocks what the
 * program believes blocked, for good, as no clock runs in the child.  The mask
 * is the child's own. */
void jp_local_begin_vfork_child(void);

/* Whether the caller is a vfork child, which runs in its parent's memory: it
 * must not change the parent's tables.  Makes a system call. */
int jp_local_is_vfork_child(void);

/* Convert a set of signals of the C library's to the kernel's, and back. */
uint64_t jp_local_bits(const sigset_t *set);
void jp_local_to_sigset(sigset_t *set, uint64_t bits);

/* A copy of the program's mask for one call, without the clock's signals. */
sigset_t jp_local_without_clock(const sigset_t *mask);

/* Whether a set means the signals in it; one with more than JP_LOCAL_CHOICE
 * means "all". */
#define JP_LOCAL_CHOICE 24
int jp_local_is_choice(uint64_t set);

/* Which of the clock's signals the program believes blocked under a mask: those
 * in it, or all of them if it means "all".  mask: one that the kernel had, or
 * that a handler of the program's begins with. */
uint64_t jp_local_program_blocked(uint64_t mask);

#endif
