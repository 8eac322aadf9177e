/* SPDX-License-Identifier: MIT
 *
 * Whose chunks samples go to that threads write together: a ring's, and those
 * of real time.
 * Runs in: handler, any thread. */
#ifndef JP_RING_H
#define JP_RING_H

struct jp_buffer;

/* In a ring, threads share chunks: with one for each, a thousand threads would
 * have no room for more than a sample or two.  In real time they do, too: many
 * threads wait and have few samples, and one that is written to now and then
 * is in no cache. */
int jp_ring_wanted_sig(void);

/* Makes what is needed for it, before files and memory are out of reach. */
void jp_ring_ensure_sig(void);

/* Returns a buffer that is there for nothing but its chunk, locked, with the
 * stack that `buffer` holds; NULL: none was free, or there is no memory.  The
 * caller sets its lock to 0 afterwards. */
struct jp_buffer *jp_ring_enter_sig(const struct jp_buffer *buffer);

/* Forgets these buffers, as a forked child does. */
void jp_ring_reset_sig(void);

#endif
