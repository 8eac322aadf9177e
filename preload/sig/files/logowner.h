/* SPDX-License-Identifier: MIT
 *
 * Who writes to a log, and whether that process is gone: only then a log may be
 * removed or continued.  Where nobody can say it, it lives: it may be in
 * another container, or on another machine.
 * Runs in: handler, any thread. */
#ifndef JP_LOGOWNER_H
#define JP_LOGOWNER_H

#include <stdint.h>

#include "jp_log.h"

/* Fills the fields of a header that name this process for good: proc_pid,
 * start_ticks, boot_id and those of the owner; 0 or zeros when unknown. */
void jp_logowner_fill_sig(struct jp_log_header *header);

/* The inode of this process's pid namespace; 0: unknown. */
uint32_t jp_logowner_space_sig(void);

/* Whether the process with this pid in that namespace is gone for certain. */
int jp_logowner_gone_sig(uint32_t pid, uint32_t space);

/* Of the log that is open at `fd`: whether it is a log, and who wrote it will
 * never write to it again. */
int jp_logowner_finished_sig(int fd);

/* Writes into the file's first header that `header`'s process owns it now; and
 * that it will not write to it any more. */
void jp_logowner_take_sig(int fd, const struct jp_log_header *header);
void jp_logowner_end_sig(int fd);

#endif
