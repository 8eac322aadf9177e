/* SPDX-License-Identifier: MIT
 *
 * The message that the kernel refused a timer.
 * Runs in: handler, any thread. */
#ifndef JP_REFUSAL_H
#define JP_REFUSAL_H

/* Says once, on stderr, that a timer was refused and nothing is left instead.
 * error: an errno. */
void jp_clock_complain_sig(int error);

#endif
