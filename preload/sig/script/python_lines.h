/* SPDX-License-Identifier: MIT
 *
 * CPython's tables of lines in the form that the map has.
 * Runs in: handler. */
#ifndef JP_PYTHON_LINES_H
#define JP_PYTHON_LINES_H

struct jp_script;

/* Writes the next part of script->fresh's table of lines (`table`, `unread`,
 * `delta`), which is of Python 3.MINOR, to its `lines`.  Leaves `unread` 0 when
 * that was the last part, or the table cannot be read.  May fault where
 * script->direct is set. */
void jp_python_lines_sig(struct jp_script *script, unsigned minor);

#endif
