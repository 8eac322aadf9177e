/* SPDX-License-Identifier: MIT
 *
 * One whole walk of a stack.
 * Runs in: handler. */
#ifndef JP_UNWIND_H
#define JP_UNWIND_H

#include <ucontext.h>

#include "jp_log.h"

struct jp_buffer;
struct jp_thread;

/* Walks the stack of the interrupted context into the buffer's frames, sps,
 * depth and gap.  Returns why the walk ended.  If buffer->ask is
 * JP_SCRIPT_READ, calls jp_script_read_sig instead, and returns the same (enum
 * jp_script_step): the trap (trap.h) calls this function alone. */
enum jp_reason jp_walk_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                           const ucontext_t *context);

#endif
