/* SPDX-License-Identifier: MIT
 *
 * The stack walkers' common interface.  A walker starts from the interrupted
 * context and pushes code addresses, leaf first; frames of jprof's own are
 * never among them.
 * Runs in: handler, any thread. */
#ifndef JP_WALK_H
#define JP_WALK_H

#include <stdint.h>
#include <ucontext.h>

#include "foreign.h"
#include "jp_limits.h"
#include "jp_log.h"

struct jp_buffer;
struct jp_thread;

/* One walk: where from, within which stack, into which buffer. */
struct jp_walk {
    const ucontext_t *context;
    struct jp_thread *thread;
    struct jp_buffer *buffer;
    uint64_t low, high;    /* the stack: reads stay inside [low, high) */
    uint64_t begin;        /* the sp with which the walk came to this stack */
    uint64_t limit;        /* no sp above this: high, or where a piece of this
                             stack begins that the walk has left before */
    uint32_t left;         /* such pieces, in buffer->stretches */
    uint32_t on_own_stack; /* high is where the thread's own code begins */
    uint32_t total;        /* frames pushed; more than depth: both ends kept */
    uint32_t arrived;      /* of these, before the return addresses on the stack
                             that it is on now */
    uint32_t misses;       /* rules that had to be made */
    uint32_t sure;         /* rooted, and all of the stack is known to be there,
                             as long as nobody changes it (shake.h) */
    uint64_t *next;        /* where the next frame goes, in buffer->frames; */
    uint64_t *turn, *end;  /* at end it goes on at turn: the root-most ones */
    uint32_t moved;        /* the cache: a stretch is recorded, of so many */
    uint32_t fresh, kept;  /* frames, in front of this place on the cache, */
    uint32_t area;         /* in this part of cache.fresh */
    uint64_t window;      /* of a stack that is not sure: what buffer->window */
    uint32_t window_size; /* has a copy of; bytes, 0: nothing */
};

/* Collects the stack of the interrupted context into buffer->frames, depth and
 * gap.  Returns why it ended. */
enum jp_reason jp_walk_sig(struct jp_thread *thread, struct jp_buffer *buffer,
                           const ucontext_t *context);

/* For walkers: whether a word at `address` lies in the stack, in its place. */
static inline int jp_walk_inside_sig(const struct jp_walk *walk,
                                     uint64_t address)
{
    return address >= walk->low && address <= walk->high - 8 &&
           (address & 7) == 0;
}

/* The word at `address`, which is inside, of a stack whose end is not proven:
 * read so that what is no longer mapped is no fault.  Returns 0 when it could
 * not be read. */
int jp_walk_safe_read_sig(struct jp_walk *walk, uint64_t address,
                          uint64_t *word);

/* For walkers: reads a word of the stack (inside).  Returns 0 when it could
 * not be read. */
static inline int jp_walk_read_sig(struct jp_walk *walk, uint64_t address,
                                   uint64_t *word)
{
    if (!walk->sure)
        return jp_walk_safe_read_sig(walk, address, word);
    *word = jp_foreign_word_sig(address);
    return 1;
}

/* For walkers: adds a frame; returns 0 when the walk is to stop. */
static inline int jp_walk_push_sig(struct jp_walk *walk, uint64_t address)
{
    *walk->next++ = address;
    if (walk->next == walk->end)
        walk->next = walk->turn;
    return ++walk->total < JP_WALK_MAX;
}

/* For walkers that begin anew: no frame has been pushed. */
void jp_walk_begin_sig(struct jp_walk *walk);

/* For walkers: makes the buffer's cache fit for use, empty when it is that of
 * another map. */
void jp_walk_cache_begin_sig(struct jp_buffer *buffer);

/* For walkers, at the end of a walk: what is recorded in cache.fresh goes in
 * front of what the cache still holds, for the next walk. */
void jp_walk_cache_end_sig(struct jp_walk *walk);

/* For walkers: sets low and high to the bounds of the stack that sp is on.
 * Returns 0 when it is on none. */
int jp_walk_bounds_sig(struct jp_walk *walk, uint64_t sp);

/* For walkers that go from stack to stack.  A walk cannot go round: on one
 * stack each caller's sp is above its callee's, and no piece of a stack is
 * come to twice.  Pieces that were left are passed over by a frame that spans
 * them (an alternate signal stack in a frame of the program's).
 *
 * rise: whether the walk may go from one sp to a higher one on its stack; sets
 * the limit anew.  turn: leaves a stack at sp `from` and goes on at `sp`, on
 * the one that `inside` lies in; returns 0 when there is none, or the walk has
 * been there. */
int jp_walk_rise_sig(struct jp_walk *walk, uint64_t sp);
int jp_walk_turn_sig(struct jp_walk *walk, uint64_t from, uint64_t sp,
                     uint64_t inside);

/* The walkers.  Each expects low and high to be set. */
enum jp_reason jp_walk_fp_sig(struct jp_walk *walk);
enum jp_reason jp_walk_cfi_sig(struct jp_walk *walk);
enum jp_reason jp_walk_libunwind_sig(struct jp_walk *walk);

/* Loads libunwind (RTLD_LOCAL).  Called by the constructor alone, never in a
 * handler.  Returns 0, or -ENOENT when it is not to be had. */
int jp_walk_libunwind_load(void *(*load)(const char *name),
                           void *(*find)(void *library, const char *name));

#endif
