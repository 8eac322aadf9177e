/* SPDX-License-Identifier: MIT
 *
 * Whether a debugger or a tracer is at the process: each signal of jprof's then
 * stops the thread for it (ptrace(2), "Signal-delivery-stop"), as may each
 * system call.
 * Runs in: handler. */
#ifndef JP_TRACED_H
#define JP_TRACED_H

#include <stdint.h>

/* Whether /proc/self/status names a tracer.  now_ns: CLOCK_MONOTONIC; the file
 * is read at most once a second.  0 also where it cannot be read. */
int jp_traced_sig(uint64_t now_ns);

#endif
