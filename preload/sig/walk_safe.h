/* SPDX-License-Identifier: MIT
 *
 * A stack walk that survives its faults.  It is inlined into the caller's
 * frame, since the handler uses the most stack below it.
 * Runs in: handler. */
#ifndef JP_WALK_SAFE_H
#define JP_WALK_SAFE_H

#include "sig/state/buffer.h"
#include "sig/state/thread.h"
#include "sig/unwind/unwind.h"
#include "trap.h"

/* Walks the calling thread's stack into the buffer.  If the walk faults, walks
 * again by checked copies, as all later walks of this thread then do.  Returns
 * why the walk ended, enum jp_reason. */
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
