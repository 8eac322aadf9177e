/* SPDX-License-Identifier: MIT
 *
 * Marks: names that the program gives to moments.
 * Runs in: any thread. */
#ifndef JP_MARK_H
#define JP_MARK_H

#include "jp_log.h"

/* Writes a mark of the calling thread with this name, of which the first
 * JP_MARK_NAME_MAX bytes count; makes the log if there is none.  Called in a
 * critical section.  Returns 0, -EINVAL when there is no name, -EAGAIN before
 * the profile was first started and after its end, or what
 * jp_logfile_ensure_sig and jp_log_mark_sig return. */
int jp_mark_sig(enum jp_mark_kind kind, const char *name);

#endif
