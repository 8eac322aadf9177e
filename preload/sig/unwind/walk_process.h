/* SPDX-License-Identifier: MIT
 *
 * The process that the library is in, as walks see it.
 * Runs in: handler. */
#ifndef JP_WALK_PROCESS_H
#define JP_WALK_PROCESS_H

struct jp_walk_process;

extern const struct jp_walk_process jp_walk_process;

#endif
