/* SPDX-License-Identifier: MIT
 *
 * The process's CPU time in the log's header, so that a report can say how
 * much of it the samples cover.
 * Runs in: handler, any thread. */
#ifndef JP_USAGE_H
#define JP_USAGE_H

#include <stdint.h>
#include <sys/resource.h>

#include "jp_log.h"

/* The CPU time that the kernel tells, user and system, in ns. */
uint64_t jp_usage_of_sig(const struct rusage *usage);

/* That of the children which this process has waited for; 0: not to be had. */
uint64_t jp_usage_children_sig(void);

/* The profile begins: at the process's start, or behind a fork. */
void jp_usage_begin_sig(void);

/* Writes the CPU time until now; without a log nothing. */
void jp_usage_note_sig(void);

/* The same at the profile's end, with the process's before it: what that uses
 * from here on is in no sample, and is not written any more. */
void jp_usage_end_sig(void);

/* The same at a sample, once a second. */
void jp_usage_follow_sig(uint64_t now_ns);

/* The profile ends here, though the process goes on. */
void jp_usage_off_sig(enum jp_off why);

#endif
