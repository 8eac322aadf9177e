/* SPDX-License-Identifier: MIT
 *
 * Making the log and the map: names, who owns what is already there, the
 * header.  Both are made together, at the first sample of a process.
 * Runs in: handler, any thread. */
#ifndef JP_LOGFILE_H
#define JP_LOGFILE_H

/* Makes log and map if they are not there yet.  Returns 0 when there is a
 * log, -EAGAIN while another thread is making it, or the -errno for which it
 * cannot be made: that is said once on stderr, and the next signal ends the
 * profile (jp_control_check_sig). */
int jp_logfile_ensure_sig(void);

/* Writes into the log that its process will not write to it any more: it may be
 * replaced then, also from where nobody can know whether the process lives.
 * Not where forked children may write to it. */
void jp_logfile_end_sig(void);

/* Forgets the log, as a forked child does. */
void jp_logfile_reset_sig(void);

#endif
