/* SPDX-License-Identifier: MIT
 *
 * What all walkers share: the bounds of the stack, and the cache of the last
 * walk.
 * Runs in: handler, any thread. */
#include "walk.h"

#include <string.h>

#include "shake.h"
#include "sig/state/config.h"
#include "sig/state/buffer.h"
#include "sig/state/thread.h"

/* The bounds of a thread's own stack, if its root is known, are kept in the
 * thread's record until somebody changes the memory of a part of it
 * (shake.h); it may then consist of several mappings, not all of them
 * readable.  They are not kept while anybody changes memory, as the thread's
 * record may not have been live when that began; those that were kept before
 * hold until `changed` is set.  Any other stack (an adopted thread's, an
 * alternate signal stack, a coroutine's) is looked up each time, and its bounds
 * are those of the mapping that is there now.  Such a stack may end before the
 * mapping does, and memory behind it may be unmapped at any time. */
int jp_walk_bounds_sig(struct jp_walk *walk, uint64_t sp)
{
    struct jp_thread *thread = walk->thread;
    uint64_t start, end;
    const int shaking = jp_is_unmapping_sig();
    walk->low = sp;
    walk->sure = 0;
    if (atomic_exchange(&thread->stack.changed, 0) != 0)
        thread->stack.low = UINT64_MAX;
    if (sp < thread->stack.low || sp >= thread->stack.high) {
        if (walk->process->find_region_sig(sp, &start, &end) != 0) {
            if (sp < thread->stack.floor || sp >= thread->stack.high)
                return 0;
            start = thread->stack.floor;
            end = thread->stack.high;
        }
        const int reaches =
            sp < thread->stack.high && thread->stack.high <= end;
        if (!reaches &&
            (sp < thread->stack.floor || sp >= thread->stack.high)) {
            walk->high = end;
            walk->on_own_stack = 0;
            return 1;
        }
        if (reaches && !shaking)
            thread->stack.low = start;
    }
    walk->high = thread->stack.high;
    walk->on_own_stack = 1;
    walk->sure = thread->stack.low <= sp && !atomic_load(&thread->stack.unsafe);
    return 1;
}

int jp_walk_rise_sig(struct jp_walk *walk, uint64_t sp)
{
    const struct jp_buffer_stretch *stretches = walk->buffer->stretches;
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
    if (walk->left == JP_BUFFER_STRETCHES)
        return 0;
    walk->buffer->stretches[walk->left++] =
        (struct jp_buffer_stretch){walk->begin, from};
    walk->begin = sp;
    walk->arrived = walk->total;
    return jp_walk_bounds_sig(walk, inside) && jp_walk_rise_sig(walk, sp);
}

/* Copies up to 1 KiB of the stack within one page, which is mapped as a whole
 * or not at all: one system call for each word would be too slow. */
int jp_walk_safe_read_sig(struct jp_walk *walk, uint64_t address,
                          uint64_t *word)
{
    if (address - walk->window >= walk->window_size) {
        const uint64_t page_end = (address | 4095) + 1;
        const uint64_t end = page_end < walk->high ? page_end : walk->high;
        uint64_t size = sizeof(walk->buffer->window);
        if (size > end - address)
            size = end - address;
        walk->window_size = 0;
        if (!jp_walk_copy_sig(walk, address, walk->buffer->window, size))
            return 0;
        walk->window = address;
        walk->window_size = (uint32_t)size;
    }
    *word = walk->buffer->window[(address - walk->window) / 8];
    return 1;
}

/* Of a stack that is too deep, the leaf-most frames fill one half of `frames`;
 * the root-most ones go round in the other half. */
void jp_walk_begin_sig(struct jp_walk *walk)
{
    const uint32_t limit = jp_config.depth;
    walk->begin = walk->low;
    walk->limit = walk->high;
    walk->left = 0;
    walk->total = 0;
    walk->doubtful = 0;
    walk->beside = 0;
    walk->returns = 0;
    walk->arrived = 1;
    walk->next = walk->buffer->frames;
    walk->turn = walk->buffer->frames + limit / 2;
    walk->end = walk->buffer->frames + limit;
    walk->to_sp = walk->buffer->sps - walk->buffer->frames;
}

void jp_walk_cache_begin_sig(struct jp_buffer *buffer)
{
    struct jp_walk_cache *cache = &buffer->cache;
    if (cache->ready && cache->epoch == buffer->maps_epoch)
        return;
    cache->ready = 1;
    cache->epoch = buffer->maps_epoch;
    cache->first = JP_WALK_CACHE;
    cache->steps[JP_WALK_CACHE].sp = UINT64_MAX;
}

/* Whether each of the steps is above the one before it on the stack, `next` is
 * above them all, and only the last step of the whole cache has no caller. */
static int leads_up_sig(const struct jp_walk_step *steps, uint32_t count,
                        const struct jp_walk_step *next)
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

void jp_walk_cache_end_sig(struct jp_walk *walk)
{
    struct jp_walk_cache *cache = &walk->buffer->cache;
    if (!walk->moved)
        return;
    cache->first = JP_WALK_CACHE;
    if (walk->fresh > walk->kept)
        return; /* deeper than the cache is long */
    const struct jp_walk_step *fresh = cache->fresh[walk->area];
    if (!leads_up_sig(fresh, walk->fresh, &cache->steps[walk->kept]))
        return;
    cache->first = walk->kept - walk->fresh;
    memcpy(cache->steps + cache->first, fresh, walk->fresh * sizeof(*fresh));
}
