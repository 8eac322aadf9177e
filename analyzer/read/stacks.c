/* SPDX-License-Identifier: MIT
 *
 * Places, calls and stacks, each found by content.
 * Runs in: analyzer. */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* In a depth: frames were left out on the way to the root. */
#define HAS_GAP 0x8000U
#define DEPTH(bits) ((bits) & (HAS_GAP - 1U))

/* Stands for a gap in a hash: no machine has code there. */
#define GAP_ADDRESS 0x8000000000000001ULL

void jr_stacks_init(struct jr_stacks *stacks)
{
    *stacks = (struct jr_stacks){0};
    *JR_PUSH(stacks->places, stacks->nplaces, stacks->places_room) = 0;
    stacks->depths = jr_grow(stacks->depths, 0, &stacks->depths_room,
                             sizeof *stacks->depths);
    stacks->depths[0] = 0;
    stacks->hashes = jr_grow(stacks->hashes, 0, &stacks->hashes_room,
                             sizeof *stacks->hashes);
    stacks->hashes[0] = 0;
    jr_paths_init(&stacks->calls);
    *JR_PUSH(stacks->items, stacks->count, stacks->room) =
        (struct jr_stack){0, JR_PLACE_GAP};
}

void jr_stacks_seal(struct jr_stacks *stacks)
{
    jr_paths_seal(&stacks->calls);
    free(stacks->whole);
    stacks->whole = NULL;
    free(stacks->hashes);
    stacks->hashes = NULL;
    stacks->hashes_room = 0;
    free(stacks->checks);
    stacks->checks = NULL;
    stacks->checks_room = 0;
    jr_index_free(&stacks->by_place);
    jr_index_free(&stacks->by_item);
}

void jr_stacks_free(struct jr_stacks *stacks)
{
    free(stacks->places);
    jr_stacks_seal(stacks);
    jr_paths_free(&stacks->calls);
    free(stacks->depths);
    free(stacks->items);
    *stacks = (struct jr_stacks){0};
}

static uint32_t place_of(struct jr_stacks *stacks, uint64_t address)
{
    const uint32_t hash = jr_hash(address, 0);
    size_t at = hash;
    uint32_t place;

    while ((place = jr_index_next(&stacks->by_place, hash, &at)) != JR_NO_ITEM)
        if (stacks->places[place] == address)
            return place;
    place = (uint32_t)stacks->nplaces;
    jr_index_add(&stacks->by_place, hash, place);
    *JR_PUSH(stacks->places, stacks->nplaces, stacks->places_room) = address;
    return place;
}

/* Notes depth and hash of a new call at `place` below `caller`. */
static void note_call(struct jr_stacks *stacks, uint32_t call, uint32_t caller,
                      uint32_t place)
{
    const uint16_t depth = stacks->depths[caller];

    stacks->depths = jr_grow(stacks->depths, call, &stacks->depths_room,
                             sizeof *stacks->depths);
    stacks->hashes = jr_grow(stacks->hashes, call, &stacks->hashes_room,
                             sizeof *stacks->hashes);
    stacks->hashes[call] = jr_stacks_hash(
        stacks->hashes[caller],
        place == JR_PLACE_GAP ? GAP_ADDRESS : stacks->places[place]);
    stacks->depths[call] = place == JR_PLACE_GAP ? (uint16_t)(depth | HAS_GAP)
                                                 : (uint16_t)(depth + 1);
}

/* The call at `place` below `caller`. */
static uint32_t call_of(struct jr_stacks *stacks, uint32_t caller,
                        uint32_t place)
{
    const size_t before = stacks->calls.count;
    const uint32_t call = jr_paths_child(&stacks->calls, caller, place);

    if (call == before)
        note_call(stacks, call, caller, place);
    return call;
}

/* The call at an address below `caller`: mostly the last one that was made
 * there.  Below `fresh` calls were there before this stack. */
static uint32_t call_at(struct jr_stacks *stacks, uint32_t caller,
                        uint64_t address, uint32_t fresh)
{
    uint32_t youngest, place, call;

    if (caller >= fresh) {
        place = place_of(stacks, address);
        call = jr_paths_add(&stacks->calls, caller, place);
        note_call(stacks, call, caller, place);
        return call;
    }
    youngest = stacks->calls.links[caller].child;
    place = stacks->calls.items[youngest].key;
    if (youngest != 0 && place != JR_PLACE_GAP &&
        stacks->places[place] == address)
        return youngest;
    return call_of(stacks, caller, place_of(stacks, address));
}

/* Whether frames were left out between frame `i` and the one that called it. */
static int gap_above(const struct jr_stack_parts *parts, uint32_t i)
{
    return parts->gap == i + 1 && i + 1 < parts->count + parts->shared;
}

/* Prefetches the place that an address will be found to be, mostly. */
static void prefetch_place(const struct jr_stacks *stacks, uint64_t address)
{
    const uint32_t place =
        jr_index_guess(&stacks->by_place, jr_hash(address, 0));

    if (place != JR_NO_ITEM)
        __builtin_prefetch(&stacks->places[place]);
}

/* Adds frames, innermost first, as calls below `call`, but for the first. */
static uint32_t add_calls(struct jr_stacks *stacks, uint32_t call,
                          const struct jr_stack_parts *parts)
{
    const uint32_t fresh = (uint32_t)stacks->calls.count;

    /* The places lie all over memory, so all of them are prefetched before the
     * first is used. */
    for (uint32_t i = parts->count; i-- > 1;)
        jr_index_prefetch(&stacks->by_place, jr_hash(parts->frames[i] - 1, 0));
    for (uint32_t i = parts->count; i-- > 1;)
        prefetch_place(stacks, parts->frames[i] - 1);
    for (uint32_t i = parts->count; i-- > 0;) {
        if (gap_above(parts, i))
            call = call_of(stacks, call, JR_PLACE_GAP);
        if (i > 0)
            call = call_at(stacks, call, parts->frames[i] - 1, fresh);
    }
    return call;
}

/* Adds frames, innermost first, below `call`.  Most stacks are there already,
 * and found by the hash of all their frames: to compare these would be a miss
 * of the cache for each. */
static uint32_t add_below(struct jr_stacks *stacks, uint32_t call,
                          const struct jr_stack_parts *parts)
{
    uint64_t hash = stacks->hashes[call];
    uint32_t check, item;
    size_t at;

    for (uint32_t i = parts->count; i-- > 0;) {
        if (gap_above(parts, i))
            hash = jr_stacks_hash(hash, GAP_ADDRESS);
        hash = jr_stacks_hash(hash, parts->frames[i] - (i > 0));
    }
    at = (uint32_t)hash;
    check = (uint32_t)(hash >> 32);
    while ((item = jr_index_next(&stacks->by_item, (uint32_t)hash, &at)) !=
           JR_NO_ITEM)
        if (stacks->checks[item] == check)
            return item;
    call = add_calls(stacks, call, parts);
    item = (uint32_t)stacks->count;
    jr_index_add(&stacks->by_item, (uint32_t)hash, item);
    stacks->checks = jr_grow(stacks->checks, item, &stacks->checks_room,
                             sizeof *stacks->checks);
    stacks->checks[item] = check;
    *JR_PUSH(stacks->items, stacks->count, stacks->room) =
        (struct jr_stack){call, place_of(stacks, parts->frames[0])};
    return item;
}

/* Adds all frames of a stack where its base's calls cannot be shared, because
 * the base has a gap that this stack has not. */
static uint32_t add_whole(struct jr_stacks *stacks,
                          const struct jr_stack_parts *parts)
{
    struct jr_stack_parts all = {.count = parts->count + parts->shared,
                                 .gap = parts->gap};
    uint32_t skipped = jr_stacks_depth(stacks, parts->base) - parts->shared;
    uint64_t *base;

    if (!stacks->whole)
        stacks->whole = jr_alloc(2 * JR_STACK_DEPTH_MAX, sizeof *all.frames);
    base = stacks->whole + JR_STACK_DEPTH_MAX;
    memcpy(stacks->whole, parts->frames, parts->count * sizeof *all.frames);
    jr_stacks_frames(stacks, parts->base, base);
    memcpy(stacks->whole + parts->count, base + skipped,
           parts->shared * sizeof *all.frames);
    all.frames = stacks->whole;
    return add_below(stacks, 0, &all);
}

uint32_t jr_stacks_add(struct jr_stacks *stacks,
                       const struct jr_stack_parts *parts)
{
    uint32_t call = stacks->items[parts->base].call;

    if (parts->count + parts->shared == 0)
        return 0;
    if (stacks->nplaces > UINT32_MAX - 2 * JR_STACK_DEPTH_MAX ||
        stacks->calls.count > UINT32_MAX - 2 * JR_STACK_DEPTH_MAX ||
        stacks->count >= JR_STACK_NONE - 1)
        return JR_STACK_NONE;
    if (parts->shared == 0)
        return add_below(stacks, 0, parts);
    if (parts->count == 0 || parts->gap > parts->count ||
        parts->shared > DEPTH(stacks->depths[call]))
        return add_whole(stacks, parts);
    while (DEPTH(stacks->depths[call]) > parts->shared)
        call = stacks->calls.items[call].parent;
    if (stacks->depths[call] & HAS_GAP)
        return add_whole(stacks, parts);
    return add_below(stacks, call, parts);
}

void jr_stacks_prefetch(const struct jr_stacks *stacks, uint64_t hash)
{
    jr_index_prefetch(&stacks->by_item, (uint32_t)hash);
}

uint32_t jr_stacks_guess(const struct jr_stacks *stacks, uint64_t hash)
{
    const uint32_t item = jr_index_guess(&stacks->by_item, (uint32_t)hash);

    if (item != JR_NO_ITEM) {
        __builtin_prefetch(&stacks->checks[item]);
        __builtin_prefetch(&stacks->items[item]);
    }
    return item;
}

uint32_t jr_stacks_depth(const struct jr_stacks *stacks, uint32_t index)
{
    return index ? DEPTH(stacks->depths[stacks->items[index].call]) + 1 : 0;
}

uint32_t jr_stacks_frames(const struct jr_stacks *stacks, uint32_t index,
                          uint64_t *into)
{
    uint32_t at = 0, gap = 0;

    if (index == 0)
        return 0;
    into[at++] = stacks->places[stacks->items[index].place];
    for (uint32_t i = stacks->items[index].call; i != 0;
         i = stacks->calls.items[i].parent) {
        if (stacks->calls.items[i].key == JR_PLACE_GAP)
            gap = at;
        else
            into[at++] = stacks->places[stacks->calls.items[i].key] + 1;
    }
    return gap;
}
