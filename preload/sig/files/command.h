/* SPDX-License-Identifier: MIT
 *
 * The map's line about the process itself: what it runs, and what it calls
 * itself.
 * Runs in: handler, any thread. */
#ifndef JP_COMMAND_H
#define JP_COMMAND_H

#include <stdint.h>

#include "sig/os/text.h"

/* Where the kernel put the program's arguments: [start, end).  A program that
 * says what it is to do (setproctitle) writes there, or makes them longer. */
void jp_command_init_sig(uint64_t start, uint64_t end, uint64_t limit);

/* Writes the line, with `text` as room for it.  The one that makes the log
 * calls it. */
void jp_command_put_sig(struct jp_text *text, uint64_t now_ns);

/* Once a second: writes it again when the arguments have become others, as
 * those of a forked child do that is given its part. */
void jp_command_follow_sig(uint64_t now_ns);

#endif
