/* SPDX-License-Identifier: MIT
 *
 * The quick part of the hybrid walker.  Most frames are simple: the CFA counts
 * from sp or fp, return address and frame pointer are saved at a distance from
 * it, and the rule is in the cache of rules.  And most frames are those of the
 * last sample, as the thread has not returned from them since.  So the buffer
 * keeps, for each frame of the last walk, where its caller was read.  A walk
 * that comes to such a frame (same sp, pc and fp) only compares the words of
 * the stack there; as long as they are the same, so is every further step.
 * These loads do not wait for each other, as those of a walk do.
 * Runs in: handler, any thread. */
#include "walk_quick.h"

#include <stddef.h>
#include <string.h>

#include "cfi/cfi_cache.h"
#include "sig/arch/arch.h"
#include "sig/os/foreign.h"
#include "sig/state/buffer.h"
#include "sig/state/config.h"
#include "sig/state/thread.h"

/* Fields of a rule taken from its two words, as they lie in memory on a
 * little-endian machine. */
#define WORD_OFFSET(w) ((int64_t)(int32_t)(w)[0])
#define WORD_KIND(w) ((w)[0] >> 32 & 0xff)
#define WORD_BASE(w) ((w)[0] >> 40 & 0xff)
#define WORD_RA(w) ((int64_t)(w)[0] >> 48)
#define WORD_FP(w) ((int64_t)(int16_t)(w)[1])
#define WORD_FLAGS(w) ((w)[1] >> 56)
_Static_assert(offsetof(struct jp_cfi_rule, kind) == 4 &&
                   offsetof(struct jp_cfi_rule, base) == 5 &&
                   offsetof(struct jp_cfi_rule, ra) == 6 &&
                   offsetof(struct jp_cfi_rule, fp) == 8 &&
                   offsetof(struct jp_cfi_rule, flags) == 15,
               "the words of a rule");

#define NONE JP_WALK_CACHE

/* Marks in the low bits of a step's fp_at, which are 0 otherwise.  BY_FP: the
 * step went by the frame pointer, without call-frame information; LOST: a step
 * before it did. */
#define BY_FP 1ULL
#define LOST 2ULL
#define MARKS 7ULL

/* The state of a quick walk. */
struct quick {
    uint64_t sp, fp, pc;
    uint64_t words[2];  /* the frame's rule */
    uint64_t low, room; /* reads are from low to low + room */
    uint32_t epoch;
    uint32_t at;    /* steps of the cache before this index are below sp */
    uint32_t kept;  /* steps from this index on still hold, or NONE */
    uint32_t fresh; /* steps recorded in `steps` */
    struct jp_walk_step *steps; /* the area of cache.fresh that holds no steps
                                   of this walk yet */
    uint64_t lost;              /* LOST: some step went by the frame pointer */
    uint64_t by_fp;             /* not 0: the last one did */
};

/* Where the next step is recorded.  record_sig counts it once its caller has
 * been found, so that recorded steps are complete.  The count stops at one
 * more than there is room for. */
static inline struct jp_walk_step *room_sig(struct quick *q)
{
    return &q->steps[q->fresh < NONE ? q->fresh : NONE];
}

static inline void record_sig(struct quick *q)
{
    q->fresh += q->fresh <= NONE;
}

/* Whether the last walk came through this frame with the same state.  q->at is
 * then its index. */
static inline int in_cache_sig(const struct jp_walk_cache *cache,
                               struct quick *q)
{
    const struct jp_walk_step *step = &cache->steps[q->at];
    while (step->sp < q->sp)
        step++;
    q->at = (uint32_t)(step - cache->steps);
    return step->sp == q->sp && step->pc == q->pc && step->fp == q->fp &&
           (step->fp_at & LOST) == q->lost;
}

/* Goes along the cache as long as the stack still has the same words.  Returns
 * 0 at JP_WALK_MAX frames. */
static int retrace_sig(struct jp_walk *walk, struct jp_walk_cache *cache,
                       struct quick *q)
{
    const struct jp_walk_step *const begin = &cache->steps[q->at];
    const struct jp_walk_step *step = begin;
    const uint64_t low = q->low, room = q->room;
    uint64_t *next = walk->next, *const end = walk->end;
    const ptrdiff_t to_sp = walk->to_sp;
    uint64_t marks = 0;
    for (; step->ra_at != 0; step++) {
        if (step->ra_at - low > room ||
            jp_arch_strip_sig(jp_foreign_word_sig(step->ra_at)) != step[1].pc)
            break;
        const uint64_t fp_at = step->fp_at & ~MARKS;
        if (fp_at != 0 &&
            (fp_at - low > room || jp_foreign_word_sig(fp_at) != step[1].fp))
            break;
        marks |= step->fp_at;
        next[to_sp] = step[1].sp;
        *next++ = step[1].pc;
        if (next == end)
            next = walk->turn;
    }
    walk->next = next;
    walk->total += (uint32_t)(step - begin);
    q->lost |= (marks & BY_FP) != 0 ? LOST : 0;
    if (JP_ARCH_FRAMES_LOW && step > begin)
        q->by_fp = step[-1].fp_at & BY_FP;
    q->sp = step->sp;
    q->pc = step->pc;
    q->fp = step->fp;
    if (step->ra_at == 0) {
        q->kept = q->at;
    } else {
        for (const struct jp_walk_step *s = begin; s < step; s++)
            *room_sig(q) = *s, record_sig(q);
    }
    q->at = (uint32_t)(step - cache->steps) + (step->ra_at != 0);
    return walk->total < JP_WALK_MAX;
}

/* Fills *step with where a simple frame's caller is read.  Returns its CFA, or
 * 0 when the frame is not simple. */
static inline uint64_t places_sig(const struct quick *q, uint64_t limit,
                                  struct jp_walk_step *step)
{
    const uint64_t base = WORD_BASE(q->words), flags = WORD_FLAGS(q->words);
    uint64_t cfa;
    step->sp = q->sp;
    step->pc = q->pc;
    step->fp = q->fp;
    if (WORD_KIND(q->words) == JP_CFI_NONE) {
        step->ra_at = q->fp + JP_ARCH_FRAME_RA;
        step->fp_at = q->fp + JP_ARCH_FRAME_FP;
        cfa = q->fp + JP_ARCH_FRAME_END;
        if (step->fp_at < q->sp)
            return 0;
    } else {
        if (WORD_KIND(q->words) != JP_CFI_REGISTER ||
            (base != JP_ARCH_SP && base != JP_ARCH_FP) ||
            (flags & (JP_CFI_FP_BASED | JP_CFI_RA_REGISTER | JP_CFI_EXACT)) !=
                0)
            return 0;
        cfa = (base == JP_ARCH_SP ? q->sp : q->fp) +
              (uint64_t)WORD_OFFSET(q->words);
        if (JP_ARCH_FRAMES_LOW && q->by_fp != 0 && base == JP_ARCH_SP &&
            (flags & JP_CFI_FP_SAVED) != 0)
            cfa = q->fp - (uint64_t)WORD_FP(q->words) * 8;
        step->ra_at = cfa + (uint64_t)WORD_RA(q->words) * 8;
        step->fp_at = (flags & JP_CFI_FP_SAVED) != 0
                          ? cfa + (uint64_t)WORD_FP(q->words) * 8
                          : 0;
    }
    if (cfa <= q->sp || cfa > limit || (cfa & 7) != 0 ||
        step->ra_at - q->low > q->room ||
        (step->fp_at != 0 && step->fp_at - q->low > q->room))
        return 0;
    return cfa;
}

/* Reads the caller and goes to it, if it is a plain one and its rule is cached;
 * else returns 0. */
static inline int advance_sig(struct jp_walk *walk, struct quick *q,
                              struct jp_walk_step *step, uint64_t cfa)
{
    uint64_t next[2], own[2];
    const uint64_t caller = jp_arch_strip_sig(jp_foreign_word_sig(step->ra_at));
    if (jp_thread_is_start_sig(caller) ||
        !jp_cfi_words_sig(caller - 1, q->epoch, next))
        return 0;
    /* A caller found without call-frame information must be code, but not a
     * function's first byte, nor code whose own caller is at sp (find_end_sig
     * and find_bare_sig in walk_cfi.c).  The code to which a signal's handler
     * returns is a function's first byte, too. */
    if (WORD_KIND(q->words) == JP_CFI_NONE &&
        !jp_walk_is_code_sig(walk, caller))
        return 0;
    if (WORD_KIND(next) != JP_CFI_REGISTER &&
        (WORD_KIND(next) == JP_CFI_SIGNAL ||
         (WORD_KIND(next) == JP_CFI_NONE &&
          (q->lost == 0 || !jp_cfi_words_sig(caller, q->epoch, own) ||
           WORD_KIND(own) != JP_CFI_NONE))))
        return 0;
    q->fp = step->fp_at != 0 ? jp_foreign_word_sig(step->fp_at) : q->fp;
    if (q->lost != 0)
        step->fp_at |= LOST;
    if (WORD_KIND(q->words) == JP_CFI_NONE) {
        step->fp_at |= BY_FP;
        q->lost = LOST;
    }
    if (JP_ARCH_FRAMES_LOW)
        q->by_fp = step->fp_at & BY_FP;
    q->sp = cfa;
    q->pc = caller;
    q->words[0] = next[0];
    q->words[1] = next[1];
    return 1;
}

/* The loop of jp_walk_quick_sig. */
static int go_sig(struct jp_walk *walk, struct quick *q, int interrupted)
{
    struct jp_walk_cache *cache = &walk->buffer->cache;
    for (;;) {
        if (!interrupted && in_cache_sig(cache, q)) {
            if (!retrace_sig(walk, cache, q))
                return JP_REASON_DEPTH;
            if (q->kept != NONE ||
                !jp_cfi_words_sig(q->pc - 1, q->epoch, q->words))
                return JP_WALK_LOOKUP;
        }
        if (WORD_KIND(q->words) == JP_CFI_NONE &&
            (interrupted || jp_config.walker == JP_WALKER_CFI))
            return JP_WALK_GOING;
        struct jp_walk_step *step = room_sig(q);
        uint64_t cfa = places_sig(q, walk->limit, step);
        if (cfa == 0 || !advance_sig(walk, q, step, cfa))
            return JP_WALK_GOING;
        if (!interrupted)
            record_sig(q);
        interrupted = 0;
        if (!jp_walk_push_sig(walk, q->pc, q->sp))
            return JP_REASON_DEPTH;
    }
}

int jp_walk_quick_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                      struct jp_cfi_rule *rule)
{
    struct jp_walk_cache *cache = &walk->buffer->cache;
    const uint32_t total = walk->total;
    const uint32_t area = walk->moved ? 1 - walk->area : walk->area;
    jp_walk_cache_begin_sig(walk->buffer);
    struct quick q = {.sp = frame->registers[JP_ARCH_SP],
                      .fp = frame->registers[JP_ARCH_FP],
                      .pc = frame->pc,
                      .low = walk->low,
                      .room = walk->limit - 8 - walk->low,
                      .epoch = walk->buffer->maps_epoch,
                      .at = cache->first,
                      .steps = cache->fresh[area],
                      .kept = NONE,
                      .lost = frame->lost ? LOST : 0,
                      .by_fp = frame->lost == JP_WALK_BY_FP};
    /* A rule of NONE that is not cached may be one that could not be made just
     * now: its step must not be recorded. */
    if (rule->kind == JP_CFI_NONE && !frame->interrupted && !frame->exact &&
        !jp_cfi_words_sig(q.pc - 1, q.epoch, q.words))
        return JP_WALK_GOING;
    memcpy(q.words, rule, sizeof(q.words));
    int result = go_sig(walk, &q, frame->interrupted || frame->exact);
    if (walk->total == total)
        return result;
    if (q.kept == NONE) {
        *room_sig(&q) = (struct jp_walk_step){q.sp, q.pc, q.fp, 0, q.lost};
        record_sig(&q);
    }
    walk->area = area;
    walk->moved = 1;
    walk->kept = q.kept;
    walk->fresh = q.fresh;
    frame->registers[JP_ARCH_SP] = q.sp;
    frame->registers[JP_ARCH_FP] = q.fp;
    frame->pc = q.pc;
    frame->interrupted = frame->exact = 0;
    frame->lost = q.lost == 0 ? 0 : q.by_fp != 0 ? JP_WALK_BY_FP : JP_WALK_LOST;
    memcpy(rule, q.words, sizeof(q.words));
    return result;
}
