/* SPDX-License-Identifier: MIT
 *
 * What all walkers share: the bounds of the stack, the choice of a walker, the
 * depth limit.
 * Runs in: handler, any thread. */
#include "walk.h"

#include <string.h>

#include "arch/arch.h"
#include "config.h"
#include "kit.h"
#include "maps.h"
#include "slot.h"
#include "sys.h"

/* Finds the stack that sp is on.  That of a thread whose root is known is kept
 * in its slot.  Any other (an adopted thread's, an alternate signal stack, a
 * coroutine's) is looked up each time, and is only what is mapped there now:
 * the stack may end before the mapping does, and the rest go at any time. */
int jp_walk_bounds_sig(struct jp_walk *walk, uint64_t sp)
{
    struct jp_slot *slot = walk->slot;
    uint64_t start, end;
    walk->low = sp;
    if (sp < slot->stack_low || sp >= slot->stack_high) {
        if (jp_maps_region_sig(sp, &start, &end) != 0)
            return 0;
        if (slot->stack_high <= sp || slot->stack_high > end) {
            walk->high = end;
            walk->rooted = 0;
            return 1;
        }
        slot->stack_low = start;
    }
    walk->high = slot->stack_high;
    walk->rooted = 1;
    return 1;
}

int jp_walk_read_sig(const struct jp_walk *walk, uint64_t address,
                     uint64_t *words, uint32_t count)
{
    const long size = (long)(count * sizeof(*words));
    if (!walk->rooted)
        return jp_sys_peek_sig(address, words, (size_t)size) == size;
    memcpy(words, (const void *)address, (size_t)size);
    return 1;
}

/* How many root-most frames of too deep a stack are kept; at least one. */
static uint32_t tail_sig(void)
{
    const uint32_t limit = jp_config.depth;
    return limit > 1 ? limit - limit / 2 : 1;
}

int jp_walk_push_sig(struct jp_walk *walk, uint64_t address)
{
    const uint32_t limit = jp_config.depth, head = limit / 2;
    uint32_t index = walk->total;
    if (index >= limit)
        index = head + (index - head) % tail_sig();
    walk->kit->frames[index] = address;
    return ++walk->total < JP_WALK_MAX;
}

static void reverse_sig(uint64_t *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint64_t frame = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = frame;
    }
}

/* Of a stack deeper than the limit the leaf-most half is in its place; the
 * root-most frames are in the other half, turned: turns them back. */
static void settle_sig(struct jp_walk *walk)
{
    const uint32_t limit = jp_config.depth, head = limit / 2;
    const uint32_t tail = tail_sig();
    struct jp_kit *kit = walk->kit;
    kit->gap = 0;
    kit->depth = walk->total;
    if (walk->total <= limit)
        return;
    uint32_t turn = (walk->total - head) % tail;
    uint64_t *frames = kit->frames + head;
    reverse_sig(frames, turn);
    reverse_sig(frames + turn, tail - turn);
    reverse_sig(frames, tail);
    kit->depth = limit;
    kit->gap = head;
}

enum jp_reason jp_walk_sig(struct jp_slot *slot, struct jp_kit *kit,
                           const ucontext_t *context)
{
    struct jp_walk walk = {.context = context, .slot = slot, .kit = kit};
    enum jp_reason reason = JP_REASON_NO_STACK;
    if (!jp_walk_bounds_sig(&walk, jp_arch_sp_sig(context)))
        jp_walk_push_sig(&walk, jp_arch_pc_sig(context));
    else if (jp_config.walker == JP_WALKER_LIBUNWIND)
        reason = jp_walk_libunwind_sig(&walk);
    else if (jp_config.walker == JP_WALKER_CFI)
        reason = jp_walk_cfi_sig(&walk);
    else
        reason = jp_walk_fp_sig(&walk);
    settle_sig(&walk);
    return kit->gap != 0 || walk.total >= JP_WALK_MAX ? JP_REASON_DEPTH
                                                       : reason;
}
