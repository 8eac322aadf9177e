/* SPDX-License-Identifier: MIT
 *
 * A walk that survives its faults.  In the handler's own frame, as the deepest
 * place of its stack is behind it.
 * Runs in: handler. */
#ifndef JP_WALK_SAFE_H
#define JP_WALK_SAFE_H

#include "sig/state/buffer.h"
#include "sig/state/thread.h"
#include "sig/unwind/walk.h"
#include "trap.h"

/* Walks the stack.  Where its memory went away meanwhile, again, reading what
 * there is of it; and from now on. */
static inline uint8_t jp_walk_safe_sig(struct jp_thread *thread,
                                       struct jp_buffer *buffer,
                                       const ucontext_t *context)
{
    jp_trap_here = &buffer->trap;
    int reason = jp_trap_walk_sig(thread, buffer, context, &buffer->trap);
    if (reason == JP_TRAP_FAULT) {
        atomic_store(&thread->stack.unsafe, 1);
        reason = jp_trap_walk_sig(thread, buffer, context, &buffer->trap);
    }
    jp_trap_here = NULL;
    if (reason == JP_TRAP_FAULT) {
        buffer->depth = buffer->gap = 0;
        reason = JP_REASON_NO_STACK;
    }
    return (uint8_t)reason;
}

#endif
