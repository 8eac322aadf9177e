/* SPDX-License-Identifier: MIT
 *
 * The frame-pointer walker (JP_STACK=fp), which follows the chain of saved
 * frame pointers as long as it is plausible.
 * Runs in: handler, any thread. */
#include "walk_fp.h"

#include "sig/arch/arch.h"
#include "sig/state/buffer.h"
#include "sig/state/thread.h"
#include "walk_first.h"

/* The C library's start-up code keeps no frame pointers.  A chain that ends
 * this close to the program's entry has reached main (glibc 2.36: 400 bytes
 * for __libc_start_main and what it calls). */
#define ENTRY_BYTES 1024U

/* The reason to end for a chain that led to `fp` from the frame at `last`.  If
 * no frame record was read, or the last one was of JIT code, the frame pointer
 * may hold anything. */
static enum jp_reason end_sig(const struct jp_walk *walk, uint64_t fp,
                              uint64_t last)
{
    const struct jp_thread *thread = walk->thread;
    if (last == walk->low || walk->next == walk->buffer->frames ||
        walk->process->is_anonymous_sig(walk->next[-1]))
        return JP_REASON_BAD_FP;
    if (thread->stack.is_main && walk->on_own_stack &&
        walk->high - last <= ENTRY_BYTES)
        return JP_REASON_ROOT;
    if (thread->adopted && fp == 0)
        return JP_REASON_ROOT;
    return JP_REASON_BAD_FP;
}

/* Pushes the caller of an interrupted function that has no frame at this
 * instruction, and would hide its caller: its return address is at sp. */
static void push_frameless_sig(struct jp_walk *walk)
{
    /* A call of code that is not there has only pushed its return address. */
    int offset = jp_walk_has_code_sig(walk)
                     ? jp_arch_frameless_sig(walk->context)
                     : JP_ARCH_CALL_PUSHES - 1;
    uint64_t at = walk->low + (uint64_t)offset;
    if (offset < 0 || at + 8 > walk->high)
        return;
    uint64_t caller;
    if (jp_walk_read_sig(walk, at, &caller) &&
        jp_walk_is_code_sig(walk, caller) && !jp_thread_is_start_sig(caller))
        jp_walk_push_sig(walk, caller, at + 8);
}

/* A walk along the chain.  A step of this walker's cache is a frame record
 * that was read at sp: the next frame pointer fp and the return address pc.
 * The last step is the record at which the chain ended, with ra_at 0. */
struct chain {
    uint64_t fp;    /* leads to the next frame record */
    uint64_t last;  /* the next record must not be below this */
    uint32_t at;    /* steps before this index are below the next record */
    uint32_t kept;  /* steps from this index on still hold, or NONE */
    uint32_t fresh; /* steps recorded in cache.fresh */
};

#define NONE JP_WALK_CACHE
#define RECORD_BYTES (JP_ARCH_FRAME_END - JP_ARCH_FRAME_FP)
#define FP_TO_RA (JP_ARCH_FRAME_RA - JP_ARCH_FRAME_FP)

static inline void record_sig(struct jp_walk_cache *cache, struct chain *chain,
                              struct jp_walk_step step)
{
    cache->fresh[0][chain->fresh < NONE ? chain->fresh : NONE] = step;
    chain->fresh += chain->fresh <= NONE;
}

/* The chain goes on behind its old end, so the cache's end does not hold:
 * records the steps from `kept` on, but for the last, as part of this walk. */
static void rewrite_sig(struct jp_walk_cache *cache, struct chain *chain)
{
    const struct jp_walk_step *step = &cache->steps[chain->kept];
    for (; step->ra_at != 0; step++)
        record_sig(cache, chain, *step);
    chain->kept = NONE;
}

/* If the cache has the next frame record, goes along the cache as long as the
 * stack still has the same words.  These loads do not wait for each other, as
 * those from record to record do.  Returns 0 at JP_WALK_MAX frames. */
static int retrace_sig(struct jp_walk *walk, struct jp_walk_cache *cache,
                       struct chain *chain)
{
    const struct jp_walk_step *step = &cache->steps[chain->at];
    const uint64_t record = chain->fp + JP_ARCH_FRAME_FP;
    while (step->sp < record)
        step++;
    chain->at = (uint32_t)(step - cache->steps);
    const uint64_t high = walk->high - RECORD_BYTES;
    if (step->sp != record || step->sp > high)
        return 1;
    const struct jp_walk_step *const begin = step;
    uint64_t *next = walk->next, *const end = walk->end;
    for (; step->ra_at != 0 && step->sp <= high; step++) {
        const uint64_t *fp_at = (const uint64_t *)step->sp;
        const uint64_t *ra_at = (const uint64_t *)(step->sp + FP_TO_RA);
        if (*fp_at != step->fp || jp_arch_strip_sig(*ra_at) != step->pc)
            break;
        next[walk->to_sp] = step->sp + RECORD_BYTES;
        *next++ = step->pc;
        if (next == end)
            next = walk->turn;
    }
    if (step == begin && step->ra_at != 0)
        return 1;
    walk->next = next;
    walk->total += (uint32_t)(step - begin);
    if (step > begin) {
        chain->last = step[-1].sp + RECORD_BYTES;
        chain->fp = step[-1].fp;
    }
    if (step->ra_at == 0) {
        chain->kept = chain->at;
    } else {
        for (const struct jp_walk_step *s = begin; s < step; s++)
            record_sig(cache, chain, *s);
        chain->at = (uint32_t)(step - cache->steps);
    }
    return walk->total < JP_WALK_MAX;
}

/* Follows the chain to its end.  Returns JP_REASON_DEPTH, JP_REASON_ROOT, or
 * JP_REASON_BAD_FP for an end that the caller looks at. */
static enum jp_reason follow_sig(struct jp_walk *walk, struct chain *chain)
{
    struct jp_walk_cache *cache = &walk->buffer->cache;
    const uint64_t high = walk->high - RECORD_BYTES;
    const uint64_t start = jp_thread_start_low;
    const uint64_t start_size = jp_thread_start_high - start;
    for (;;) {
        uint64_t caller, next;
        const uint64_t record = chain->fp + JP_ARCH_FRAME_FP;
        if (record < chain->last || (record & 7) != 0 || record > high)
            return JP_REASON_BAD_FP;
        if (chain->kept == NONE && walk->sure) {
            const uint64_t last = chain->last;
            if (!retrace_sig(walk, cache, chain))
                return JP_REASON_DEPTH;
            if (chain->last != last)
                continue; /* and look where it led to */
        }
        if (!jp_walk_read_sig(walk, record, &next) ||
            !jp_walk_read_sig(walk, record + FP_TO_RA, &caller))
            return JP_REASON_BAD_FP;
        caller = jp_arch_strip_sig(caller);
        if (caller - start < start_size)
            return JP_REASON_ROOT;
        if (!jp_buffer_has_page_sig(walk->buffer, caller) &&
            !jp_walk_is_code_sig(walk, caller))
            return JP_REASON_BAD_FP;
        if (chain->kept != NONE)
            rewrite_sig(cache, chain);
        record_sig(cache, chain,
                   (struct jp_walk_step){record, caller, next, 1, 0});
        if (!jp_walk_push_sig(walk, caller, record + RECORD_BYTES))
            return JP_REASON_DEPTH;
        chain->last = record + RECORD_BYTES;
        chain->fp = next;
    }
}

enum jp_reason jp_walk_fp_sig(struct jp_walk *walk)
{
    struct jp_walk_cache *cache = &walk->buffer->cache;
    struct chain chain = {
        .fp = jp_arch_fp_sig(walk->context), .last = walk->low, .kept = NONE};
    jp_walk_push_sig(walk, jp_arch_pc_sig(walk->context),
                     jp_arch_sp_sig(walk->context));
    /* A misaligned stack is not read. */
    if ((walk->low & 7) == 0)
        push_frameless_sig(walk);
    jp_walk_cache_begin_sig(walk->buffer);
    chain.at = cache->first;
    const enum jp_reason reason = follow_sig(walk, &chain);
    if (walk->sure) {
        /* The end's step is above all others, wherever the chain led. */
        const uint64_t record = chain.fp + JP_ARCH_FRAME_FP;
        const uint64_t end = record >= chain.last && record < UINT64_MAX
                                 ? record
                                 : UINT64_MAX - 1;
        if (chain.kept == NONE)
            record_sig(cache, &chain, (struct jp_walk_step){end, 0, 0, 0, 0});
        walk->moved = 1;
        walk->kept = chain.kept;
        walk->fresh = chain.fresh;
        jp_walk_cache_end_sig(walk);
    }
    if (reason == JP_REASON_ROOT)
        return jp_walk_started_sig(walk);
    if (reason != JP_REASON_BAD_FP)
        return reason;
    if (walk->thread->stack.bounds_known && walk->on_own_stack &&
        chain.fp == walk->high)
        return jp_walk_started_sig(walk);
    return end_sig(walk, chain.fp, chain.last);
}
