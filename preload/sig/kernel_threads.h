/* SPDX-License-Identifier: MIT
 *
 * Threads of the process that run kernel code alone: io_uring's workers and
 * its polling threads (iou-wrk-*, iou-sqp-*), and vhost's.  They are in
 * /proc/self/task, and the process's CPU clock counts their time, but no signal
 * ever interrupts them.  The counter JP_COUNT_KERNEL_NS has their CPU time
 * while the profile runs; lines of the map (JP_MAP_KERNEL) have their names.
 * Only one thread at a time may be in these functions (adopt.c sees to it).
 * Runs in: handler, any thread. */
#ifndef JP_KERNEL_THREADS_H
#define JP_KERNEL_THREADS_H

#include <stdint.h>

/* Whether a thread of this process without a record runs kernel code alone; if
 * so, its CPU time is counted from now on.  late: 1 if the thread began under
 * the running profile, so that its CPU time until now counts as well. */
int jp_kernel_threads_has_sig(uint32_t tid, int late);

/* Counts the CPU time that these threads used since the last call, and forgets
 * threads that ended.  all: writes a line about each thread that used CPU time
 * since its last line; else only where that time has doubled. */
void jp_kernel_threads_follow_sig(int all);

/* Called when a profile starts again: time until now is not counted. */
void jp_kernel_threads_restart_sig(void);

/* Forgets all threads: called in a forked child. */
void jp_kernel_threads_reset_sig(void);

#endif
