/* SPDX-License-Identifier: MIT
 *
 * The map's line about the process itself: its executable, arguments and name.
 * Runs in: handler, any thread. */
#ifndef JP_COMMAND_H
#define JP_COMMAND_H

#include <stdint.h>

#include "sig/os/text.h"

/* Tells where the kernel put the program's arguments, [start, end), and where
 * the environment behind them ends: a program that changes its arguments
 * (setproctitle) may write up to there.  Called once, by the constructor. */
void jp_command_init_sig(uint64_t start, uint64_t end, uint64_t limit);

/* Writes the line; `text` is room for it.  Called by the thread that makes the
 * log.  now_ns: the line's time. */
void jp_command_put_sig(struct jp_text *text, uint64_t now_ns);

/* Called at samples; once a second, writes the line again if the arguments have
 * changed, as they do in a forked server that says what it works on. */
void jp_command_follow_sig(uint64_t now_ns);

#endif
