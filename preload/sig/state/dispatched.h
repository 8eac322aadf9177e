/* SPDX-License-Identifier: MIT
 *
 * Threads whose system calls become signals (PR_SET_SYSCALL_USER_DISPATCH,
 * prctl(2)).  A call of jprof's own would come to the program's SIGSYS handler,
 * which takes it for one of the program's: where the kernel would make a signal
 * of it, it fails with -EPERM and is not made (jp_sys_judge).
 * Runs in: handler, any thread. */
#ifndef JP_DISPATCHED_H
#define JP_DISPATCHED_H

#include <stdint.h>

/* Called before jp_dispatched_begin_sig: makes system calls. */
void jp_dispatched_prepare_sig(void);

/* Called when the calling thread's system calls become signals: those outside
 * of the program's code at [start, start + size), or with `inside` those in
 * it, unless *selector is 0; selector NULL: always. */
struct jp_dispatched {
    uint64_t start, size;
    int inside;
    const volatile uint8_t *selector;
};
void jp_dispatched_begin_sig(const struct jp_dispatched *how);

/* Called when the calling thread's system calls are as usual again, and by a
 * thread that ends. */
void jp_dispatched_end_sig(void);

#endif
