/* SPDX-License-Identifier: MIT
 *
 * The distinct stacks of a run, which share their callers as the log's records
 * do: memory grows with what is new in a stack, not with its depth.
 * Runs in: analyzer. */
#ifndef JR_STACKS_H
#define JR_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "base/paths.h"

#define JR_STACK_DEPTH_MAX 4096 /* frames of one stack (FORMAT.md) */
#define JR_STACK_NONE UINT32_MAX

/* The place that stands for frames that were left out. */
#define JR_PLACE_GAP 0

/* A stack: where it was interrupted, and the innermost call.  The empty one has
 * JR_PLACE_GAP and no call. */
struct jr_stack {
    uint32_t call, place;
};

/* All zero is to be initialised by jr_stacks_init. */
struct jr_stacks {
    uint64_t *places; /* code addresses as they are looked up: return
                         addresses minus one, interrupted addresses
                         unchanged; [0] is JR_PLACE_GAP */
    size_t nplaces, places_room;
    struct jr_paths calls; /* keys are places, the root is the thread's */
    uint16_t *depths;      /* by call: how many frames it has up to the root,
                              and a bit that says that frames between them
                              were left out */
    size_t depths_room;
    uint64_t *hashes; /* by call: hash of all its places up to the root */
    size_t hashes_room;
    uint32_t *checks; /* by item: the upper half of its hash */
    size_t checks_room;
    struct jr_stack *items; /* [0] is the empty stack */
    size_t count, room;
    struct jr_index by_place, by_item;
    uint64_t *whole; /* scratch */
};

/* A stack as a record has it: `count` frames, innermost first, then the last
 * `shared` of the stack `base`; before the frame with index `gap` others were
 * left out (0: nowhere). */
struct jr_stack_parts {
    const uint64_t *frames;
    uint32_t count, shared, base, gap;
};

void jr_stacks_init(struct jr_stacks *stacks);
void jr_stacks_free(struct jr_stacks *stacks);

/* The index of a stack, which is added when it is new; 0 when it has no frame.
 * JR_STACK_NONE when there are as many as 32 bits can number.  It has at most
 * JR_STACK_DEPTH_MAX frames, shares no more than its base has, and its gap is
 * within it. */
uint32_t jr_stacks_add(struct jr_stacks *stacks,
                       const struct jr_stack_parts *parts);

/* Hashes a stack from its root to its leaf: the hash of the frames so far, 0 of
 * none, and the next one's address as in jr_stacks.places. */
static inline uint64_t jr_stacks_hash(uint64_t hash, uint64_t address)
{
    /* Each step is a bijection of the hash, and the 64 bits stand for the
     * stack: two of a million stacks have the same in one of 10^7 logs. */
    hash = (hash ^ address) * 0x9e3779b97f4a7c15ULL;
    return hash ^ hash >> 32;
}

/* Prefetches where the search for a stack with this hash begins; the item that
 * will be found there, mostly, when it has arrived, or JR_NO_ITEM; prefetches
 * what is known of an item. */
void jr_stacks_prefetch(const struct jr_stacks *stacks, uint64_t hash);
uint32_t jr_stacks_guess(const struct jr_stacks *stacks, uint64_t hash);

/* Frees what only further calls of jr_stacks_add need. */
void jr_stacks_seal(struct jr_stacks *stacks);

/* How many frames a stack has. */
uint32_t jr_stacks_depth(const struct jr_stacks *stacks, uint32_t index);

/* Writes the frames of a stack, innermost first, of which `into` must hold all;
 * returns its gap. */
uint32_t jr_stacks_frames(const struct jr_stacks *stacks, uint32_t index,
                          uint64_t *into);

#endif
