/* SPDX-License-Identifier: MIT
 *
 * A walk that survives its faults.  In the handler's own frame, as the deepest
 * place of its stack is behind it.
 * Runs in: handler. */
#ifndef JP_WALK_SAFE_H
#define JP_WALK_SAFE_H

#include "sig/state/kit.h"
#include "sig/state/slot.h"
#include "sig/unwind/walk.h"
#include "trap.h"

/* Walks the stack.  Where its memory went away meanwhile, again, reading what
 * there is of it; and from now on. */
static inline uint8_t jp_walk_safe_sig(struct jp_slot *slot, struct jp_kit *kit,
                                       const ucontext_t *context)
{
    jp_trap_here = &kit->trap;
    int reason = jp_trap_walk_sig(slot, kit, context, &kit->trap);
    if (reason == JP_TRAP_FAULT) {
        atomic_store(&slot->stack.unsafe, 1);
        reason = jp_trap_walk_sig(slot, kit, context, &kit->trap);
    }
    jp_trap_here = NULL;
    if (reason == JP_TRAP_FAULT) {
        kit->depth = kit->gap = 0;
        reason = JP_REASON_NO_STACK;
    }
    return (uint8_t)reason;
}

#endif
