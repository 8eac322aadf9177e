/* SPDX-License-Identifier: MIT
 *
 * Which process writes to a log, and whether that process is gone: only then
 * the log may be removed or continued.  A process that cannot be looked up
 * counts as living; it may be in another container or on another machine.
 * Runs in: handler, any thread. */
#ifndef JP_LOGOWNER_H
#define JP_LOGOWNER_H

#include <stdint.h>

#include "jp_log.h"

/* Fills the fields of a header that identify this process: proc_pid,
 * start_ticks, boot_id and those of the owner; zeros for what is unknown. */
void jp_logowner_fill_sig(struct jp_log_header *header);

/* This process's start time, field 22 of /proc/self/stat; 0: unknown. */
uint64_t jp_logowner_ticks_sig(void);

/* The inode of this process's pid namespace; 0: unknown. */
uint32_t jp_logowner_space_sig(void);

/* Whether the process with this pid in that pid namespace (its inode) is gone
 * for certain. */
int jp_logowner_gone_sig(uint32_t pid, uint32_t space);

/* Whether the file open at `fd` is a log whose writer will never write to it
 * again. */
int jp_logowner_finished_sig(int fd);

/* take: writes into the file's first header that `header`'s process writes to
 * the file now.  end: that the file's writer will not write to it any more. */
void jp_logowner_take_sig(int fd, const struct jp_log_header *header);
void jp_logowner_end_sig(int fd);

#endif
