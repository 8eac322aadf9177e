/* SPDX-License-Identifier: MIT
 *
 * Making the log and the map: choosing their names, deciding whether a file
 * that is already there may be replaced, filling the log's header.  Both are
 * made together, at the first sample of a process.
 * Runs in: handler, any thread. */
#ifndef JP_LOGFILE_H
#define JP_LOGFILE_H

/* Makes log and map if they are not there yet.  Returns 0 when there is a log;
 * -EAGAIN while another thread is making it (after waiting 20 ms); -EIO, or the
 * reason the first time, when it cannot be made.  A failure is said once on
 * stderr, and the next signal ends the profile (jp_control_check_sig). */
int jp_logfile_ensure_sig(void);

/* Writes into the log that this process will not write to it any more, so that
 * it may be replaced also by those who cannot know whether the process lives.
 * Does nothing where forked children may still write to it. */
void jp_logfile_end_sig(void);

/* Called in a forked child: forgets the log, which is the parent's. */
void jp_logfile_reset_sig(void);

#endif
