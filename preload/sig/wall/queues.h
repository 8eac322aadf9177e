/* SPDX-License-Identifier: MIT
 *
 * Which calls several threads wait in for the same thing: a lock, a pipe, a
 * socket.
 * Runs in: handler. */
#ifndef JP_QUEUES_H
#define JP_QUEUES_H

#include <stdint.h>

/* Notes that thread `tid` was found in system call `number`, whose first
 * argument (a lock's address, a descriptor) is `what`, at `now`
 * (CLOCK_MONOTONIC, ns). Returns whether another thread was found there in the
 * seconds before. It may miss one if other threads were noted in between, and
 * it seldom confuses two calls. */
int jp_queues_found_sig(uint32_t tid, long number, uint64_t what, uint64_t now);

/* Two threads that were found at the same object within this time (ns) count as
 * waiting together. */
#define JP_QUEUES_NS 4000000000U

#endif
