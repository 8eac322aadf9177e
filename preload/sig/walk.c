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
#include "shake.h"
#include "slot.h"
#include "sys.h"

/* Finds the stack that sp is on.  That of a thread whose root is known is kept
 * in its slot, unless somebody changes a part of it: it may be in pieces, of
 * which not all can be read.  Any other (an adopted thread's, an alternate signal stack, a
 * coroutine's) is looked up each time, and is only what is mapped there now:
 * the stack may end before the mapping does, and the rest go at any time. */
int jp_walk_bounds_sig(struct jp_walk *walk, uint64_t sp)
{
    struct jp_slot *slot = walk->slot;
    uint64_t start, end;
    const int shaking = jp_shaking_sig();
    walk->low = sp;
    walk->sure = 0;
    if (shaking || atomic_exchange(&slot->shaken, 0) != 0)
        slot->stack_low = UINT64_MAX;
    if (sp < slot->stack_low || sp >= slot->stack_high) {
        if (jp_maps_region_sig(sp, &start, &end) != 0) {
            if (sp < slot->stack_floor || sp >= slot->stack_high)
                return 0;
            start = slot->stack_floor;
            end = slot->stack_high;
        }
        const int reaches = sp < slot->stack_high && slot->stack_high <= end;
        if (!reaches && (sp < slot->stack_floor || sp >= slot->stack_high)) {
            walk->high = end;
            walk->rooted = 0;
            return 1;
        }
        if (reaches && !shaking)
            slot->stack_low = start;
    }
    walk->high = slot->stack_high;
    walk->rooted = 1;
    walk->sure = slot->stack_low <= sp && !atomic_load(&slot->loose);
    return 1;
}

int jp_walk_rise_sig(struct jp_walk *walk, uint64_t sp)
{
    const struct jp_kit_stretch *stretches = walk->kit->stretches;
    uint64_t limit = walk->high;
    for (uint32_t i = 0; i < walk->left; i++) {
        if (sp >= stretches[i].from && sp <= stretches[i].to)
            return 0;
        if (sp < stretches[i].from && stretches[i].from < limit)
            limit = stretches[i].from;
    }
    walk->limit = limit;
    return sp <= walk->high;
}

int jp_walk_turn_sig(struct jp_walk *walk, uint64_t from, uint64_t sp,
                     uint64_t inside)
{
    if (walk->left == JP_KIT_STRETCHES)
        return 0;
    walk->kit->stretches[walk->left++] =
        (struct jp_kit_stretch){walk->begin, from};
    walk->begin = sp;
    walk->arrived = walk->total;
    return jp_walk_bounds_sig(walk, inside) && jp_walk_rise_sig(walk, sp);
}

/* A call of the kernel a word would be dear: a piece of the stack is copied,
 * as far as its page goes, which is there or is not. */
int jp_walk_peek_sig(struct jp_walk *walk, uint64_t address, uint64_t *word)
{
    if (address - walk->window >= walk->window_size) {
        const uint64_t page_end = (address | 4095) + 1;
        const uint64_t end = page_end < walk->high ? page_end : walk->high;
        uint64_t size = sizeof(walk->kit->window);
        if (size > end - address)
            size = end - address;
        walk->window_size = 0;
        if (jp_sys_peek_sig(address, walk->kit->window, size) != (long)size)
            return 0;
        walk->window = address;
        walk->window_size = (uint32_t)size;
    }
    *word = walk->kit->window[(address - walk->window) / 8];
    return 1;
}

/* Of the frames that are kept of too deep a stack, half are the leaf-most,
 * and the rest the root-most. */
void jp_walk_begin_sig(struct jp_walk *walk)
{
    const uint32_t limit = jp_config.depth;
    walk->begin = walk->low;
    walk->limit = walk->high;
    walk->left = 0;
    walk->total = 0;
    walk->arrived = 1;
    walk->next = walk->kit->frames;
    walk->turn = walk->kit->frames + limit / 2;
    walk->end = walk->kit->frames + limit;
}

void jp_walk_trail_begin_sig(struct jp_kit *kit)
{
    struct jp_kit_trail *trail = &kit->trail;
    if (trail->ready && trail->epoch == kit->maps_epoch)
        return;
    trail->ready = 1;
    trail->epoch = kit->maps_epoch;
    trail->first = JP_KIT_TRAIL;
    trail->steps[JP_KIT_TRAIL].sp = UINT64_MAX;
}

/* Whether so many steps go up the stack, one after the other, to `next`; and
 * the last of all, and no other, has no caller. */
static int leads_up_sig(const struct jp_kit_step *steps, uint32_t count,
                        const struct jp_kit_step *next)
{
    uint64_t sp = 0;
    uint32_t down = 0, ends = 0;
    for (uint32_t i = 0; i < count; i++) {
        down |= steps[i].sp <= sp;
        ends += steps[i].ra_at == 0;
        sp = steps[i].sp;
    }
    return !down && next->sp > sp && ends == (next->sp == UINT64_MAX) &&
           (count == 0 || ends == (steps[count - 1].ra_at == 0));
}

void jp_walk_trail_end_sig(struct jp_walk *walk)
{
    struct jp_kit_trail *trail = &walk->kit->trail;
    if (!walk->moved)
        return;
    trail->first = JP_KIT_TRAIL;
    if (walk->fresh > walk->kept)
        return; /* deeper than the trail is long */
    const struct jp_kit_step *fresh = trail->fresh[walk->area];
    if (!leads_up_sig(fresh, walk->fresh, &trail->steps[walk->kept]))
        return;
    trail->first = walk->kept - walk->fresh;
    memcpy(trail->steps + trail->first, fresh, walk->fresh * sizeof(*fresh));
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
    const uint32_t tail = limit - head;
    struct jp_kit *kit = walk->kit;
    kit->gap = 0;
    kit->depth = walk->total;
    if (walk->total <= limit)
        return;
    const uint32_t turn = (uint32_t)(walk->next - walk->turn);
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
    jp_walk_begin_sig(&walk);
    /* A library may have come whose code nobody has returned to yet. */
    jp_maps_executable_sig(kit, jp_arch_pc_sig(context));
    if (!jp_walk_bounds_sig(&walk, jp_arch_sp_sig(context)))
        jp_walk_push_sig(&walk, jp_arch_pc_sig(context));
    else if (jp_config.walker == JP_WALKER_LIBUNWIND)
        reason = jp_walk_libunwind_sig(&walk);
    else if (jp_config.walker == JP_WALKER_FP)
        reason = jp_walk_fp_sig(&walk);
    else
        reason = jp_walk_cfi_sig(&walk);
    settle_sig(&walk);
    if (walk.misses <= walk.total)
        atomic_fetch_add_explicit(&kit->rule_hits, walk.total - walk.misses,
                                  memory_order_relaxed);
    if (walk.misses != 0)
        atomic_fetch_add_explicit(&kit->rule_misses, walk.misses,
                                  memory_order_relaxed);
    return kit->gap != 0 || walk.total >= JP_WALK_MAX ? JP_REASON_DEPTH
                                                       : reason;
}
