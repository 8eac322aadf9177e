/* SPDX-License-Identifier: MIT
 *
 * The process's CPU time in the log's header, by which a report tells how much
 * of it the samples cover.  All times are in ns.
 * Runs in: handler, any thread. */
#ifndef JP_USAGE_H
#define JP_USAGE_H

#include <stdint.h>
#include <sys/resource.h>

#include "jp_log.h"

/* The CPU time, user and system, in what getrusage(2) or wait4(2) returned. */
uint64_t jp_usage_of_sig(const struct rusage *usage);

/* The CPU time of the children that this process has waited for; 0 when a
 * filter forbids to ask. */
uint64_t jp_usage_children_sig(void);

/* Remembers the process's CPU time (jp_process.cpu_before_ns) when its profile
 * can begin: in the constructor, or after a fork. */
void jp_usage_begin_sig(void);

/* Writes the process's CPU time until now, and its children's, into the log's
 * header.  Does nothing without a log. */
void jp_usage_note_sig(void);

/* Called before an exec: does the same; without a log, the tree's file is told
 * (jp_tree_brief_sig). */
void jp_usage_exec_sig(void);

/* Does that when the process ends, and keeps what it wrote: CPU time from here
 * on is in no sample. */
void jp_usage_end_sig(void);

/* Called at samples: does jp_usage_note_sig once a second. */
void jp_usage_follow_sig(uint64_t now_ns);

/* Writes why the profile ends though the process goes on (JP_OFF_NONE: it goes
 * on after all), and does jp_usage_note_sig. */
void jp_usage_off_sig(enum jp_off why);

#endif
