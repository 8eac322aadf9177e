/* SPDX-License-Identifier: MIT
 *
 * What goes when a signal ends the program: files that are not whole yet.
 * Runs in: analyzer. */
#ifndef JR_ENDS_H
#define JR_ENDS_H

/* Removes the files that are not whole.  It runs in a signal handler, so it may
 * call only what signal-safety(7) lists. */
typedef void jr_undo_fn(void);

/* From now on, a signal that ends the program (Ctrl-C, SIGTERM, a terminal or
 * reader that is gone) calls `undo` first.  Signals that somebody else handles
 * or ignores stay as they are.  Two functions at most. */
void jr_ends_add(jr_undo_fn *undo);

#endif
