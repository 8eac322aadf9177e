/* SPDX-License-Identifier: MIT
 *
 * Places, calls and stacks, each found by content.
 * Runs in: analyzer. */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void jr_stacks_init(struct jr_stacks *stacks)
{
    *stacks = (struct jr_stacks){0};
    *JR_PUSH(stacks->places, stacks->nplaces, stacks->places_room) = 0;
    *JR_PUSH(stacks->calls, stacks->ncalls, stacks->calls_room) =
        (struct jr_call){.place = JR_PLACE_GAP};
    *JR_PUSH(stacks->items, stacks->count, stacks->room) =
        (struct jr_stack){0, JR_PLACE_GAP};
}

void jr_stacks_free(struct jr_stacks *stacks)
{
    free(stacks->places);
    free(stacks->calls);
    free(stacks->items);
    free(stacks->whole);
    jr_index_free(&stacks->by_place);
    jr_index_free(&stacks->by_call);
    jr_index_free(&stacks->by_item);
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

/* The hash of what is called at `address` below a call with this hash.  The
 * gap's address is 0, as its place's is. */
static uint32_t hash_below(uint32_t hash, uint64_t address)
{
    return jr_hash(address, hash);
}

/* Adds the call at a place of this address below `caller`. */
static uint32_t new_call(struct jr_stacks *stacks, uint32_t caller,
                         uint64_t address, int is_gap)
{
    const struct jr_call below = stacks->calls[caller];
    const struct jr_call call = {.caller = caller,
                                 .place = is_gap ? JR_PLACE_GAP
                                                 : place_of(stacks, address),
                                 .hash = hash_below(below.hash, address),
                                 .depth = (uint16_t)(below.depth + !is_gap),
                                 .gap = (uint16_t)(below.gap || is_gap)};

    jr_index_add(&stacks->by_call, call.hash, (uint32_t)stacks->ncalls);
    *JR_PUSH(stacks->calls, stacks->ncalls, stacks->calls_room) = call;
    return (uint32_t)stacks->ncalls - 1;
}

static uint32_t call_of(struct jr_stacks *stacks, uint32_t caller,
                        uint64_t address, int is_gap)
{
    const uint32_t hash = hash_below(stacks->calls[caller].hash, address);
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&stacks->by_call, hash, &at)) != JR_NO_ITEM) {
        const struct jr_call *call = &stacks->calls[found];

        if (call->caller == caller && (call->place == JR_PLACE_GAP) == is_gap &&
            stacks->places[call->place] == address)
            return found;
    }
    return new_call(stacks, caller, address, is_gap);
}

/* Whether frames were left out between frame `i` and the one that called it. */
static int gap_above(const struct jr_stack_parts *parts, uint32_t i)
{
    return parts->gap == i + 1 && i + 1 < parts->count + parts->shared;
}

/* Whether the item is the stack of these frames below `call`. */
static int is_item(const struct jr_stacks *stacks, const struct jr_stack *item,
                   uint32_t call, const struct jr_stack_parts *parts)
{
    const struct jr_call *at = &stacks->calls[item->call];

    if (item->place == JR_PLACE_GAP ||
        stacks->places[item->place] != parts->frames[0])
        return 0;
    for (uint32_t i = 0; i < parts->count; i++) {
        if (i > 0) {
            if (at->place == JR_PLACE_GAP ||
                stacks->places[at->place] != parts->frames[i] - 1)
                return 0;
            at = &stacks->calls[at->caller];
        }
        if (gap_above(parts, i)) {
            if (at == stacks->calls || at->place != JR_PLACE_GAP)
                return 0;
            at = &stacks->calls[at->caller];
        }
    }
    return at == &stacks->calls[call];
}

/* Adds frames, innermost first, below `call`.  Most stacks are there already,
 * and found by the hash of all their frames. */
static uint32_t add_below(struct jr_stacks *stacks, uint32_t call,
                          const struct jr_stack_parts *parts)
{
    uint32_t hash = stacks->calls[call].hash, item;
    size_t at;

    for (uint32_t i = parts->count; i-- > 0;) {
        if (gap_above(parts, i))
            hash = hash_below(hash, 0);
        hash = hash_below(hash, parts->frames[i] - (i > 0));
    }
    at = hash;
    while ((item = jr_index_next(&stacks->by_item, hash, &at)) != JR_NO_ITEM)
        if (is_item(stacks, &stacks->items[item], call, parts))
            return item;
    for (uint32_t i = parts->count; i-- > 0;) {
        if (gap_above(parts, i))
            call = call_of(stacks, call, 0, 1);
        if (i > 0)
            call = call_of(stacks, call, parts->frames[i] - 1, 0);
    }
    item = (uint32_t)stacks->count;
    jr_index_add(&stacks->by_item, hash, item);
    *JR_PUSH(stacks->items, stacks->count, stacks->room) =
        (struct jr_stack){call, place_of(stacks, parts->frames[0])};
    return item;
}

/* Where frames are shared so that calls cannot be: all frames of the stack, the
 * base's gap being left out. */
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
        stacks->ncalls > UINT32_MAX - 2 * JR_STACK_DEPTH_MAX ||
        stacks->count >= JR_STACK_NONE - 1)
        return JR_STACK_NONE;
    if (parts->shared == 0)
        return add_below(stacks, 0, parts);
    if (parts->count == 0 || parts->gap > parts->count ||
        parts->shared > stacks->calls[call].depth)
        return add_whole(stacks, parts);
    while (stacks->calls[call].depth > parts->shared)
        call = stacks->calls[call].caller;
    if (stacks->calls[call].gap)
        return add_whole(stacks, parts);
    return add_below(stacks, call, parts);
}

uint32_t jr_stacks_depth(const struct jr_stacks *stacks, uint32_t index)
{
    return index ? stacks->calls[stacks->items[index].call].depth + 1U : 0;
}

uint32_t jr_stacks_frames(const struct jr_stacks *stacks, uint32_t index,
                          uint64_t *into)
{
    uint32_t at = 0, gap = 0;

    if (index == 0)
        return 0;
    into[at++] = stacks->places[stacks->items[index].place];
    for (uint32_t i = stacks->items[index].call; i != 0;
         i = stacks->calls[i].caller) {
        if (stacks->calls[i].place == JR_PLACE_GAP)
            gap = at;
        else
            into[at++] = stacks->places[stacks->calls[i].place] + 1;
    }
    return gap;
}
