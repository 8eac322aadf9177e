/* SPDX-License-Identifier: MIT
 *
 * The timer that starts a profile after some time (JP_FIRST).
 * Runs in: handler, any thread. */
#ifndef JP_FIRST_H
#define JP_FIRST_H

/* Has the clock's signal sent once, with the value for START, after the
 * configured CPU time of the process; in real-time mode, after that much real
 * time.  A refusal is counted, and said on stderr. */
void jp_clock_first_sig(void);

/* Makes the timer anew, with the time that is left, for the clock's new
 * signal.  Does nothing where there is no such timer. */
void jp_first_move_sig(void);

#endif
