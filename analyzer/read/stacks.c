/* SPDX-License-Identifier: MIT
 *
 * The hash table behind jr_run.stacks.
 * Runs in: analyzer. */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_SLOTS 256

static uint32_t hash_stack(const uint64_t *frames, uint32_t depth, uint32_t gap)
{
    uint64_t hash = ((uint64_t)gap << 32) + depth;

    for (uint32_t i = 0; i < depth; i++) {
        hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static void insert(struct jr_stack_table *table, uint32_t index)
{
    size_t mask = table->nslots - 1;
    size_t at = table->hashes[index] & mask;

    while (table->slots[at] != JR_STACK_NONE)
        at = (at + 1) & mask;
    table->slots[at] = index;
}

/* Doubles the slots once three quarters are in use. */
static void make_room(struct jr_stack_table *table, size_t used)
{
    if (used + used / 3 < table->nslots)
        return;
    table->nslots = table->nslots ? table->nslots * 2 : FIRST_SLOTS;
    table->slots =
        jr_realloc(table->slots, table->nslots, sizeof *table->slots);
    memset(table->slots, 0xff, table->nslots * sizeof *table->slots);
    for (size_t i = 1; i < used; i++)
        insert(table, (uint32_t)i);
}

static int same(const struct jr_run *run, uint32_t index,
                const uint64_t *frames, uint32_t depth, uint32_t gap)
{
    const struct jr_stack *stack = &run->stacks[index];

    return stack->depth == depth && stack->gap == gap &&
           !memcmp(run->frames + stack->first, frames, depth * sizeof *frames);
}

static void append_frames(struct jr_run *run, const uint64_t *frames,
                          uint32_t depth)
{
    run->frames = jr_grow(run->frames, run->nframes + depth, &run->frames_room,
                          sizeof *run->frames);
    memcpy(run->frames + run->nframes, frames, depth * sizeof *frames);
    run->nframes += depth;
}

uint32_t jr_stack_add(struct jr_stack_table *table, struct jr_run *run,
                      const uint64_t *frames, uint32_t depth, uint32_t gap)
{
    uint32_t hash, index;
    size_t at;

    if (depth == 0)
        return 0;
    make_room(table, run->nstacks);
    hash = hash_stack(frames, depth, gap);
    at = hash & (table->nslots - 1);
    while ((index = table->slots[at]) != JR_STACK_NONE) {
        if (table->hashes[index] == hash &&
            same(run, index, frames, depth, gap))
            return index;
        at = (at + 1) & (table->nslots - 1);
    }
    if (run->nframes + depth > JR_STACK_FRAMES_MAX)
        return JR_STACK_NONE;
    index = (uint32_t)run->nstacks;
    *JR_PUSH(run->stacks, run->nstacks, run->stacks_room) =
        (struct jr_stack){.first = run->nframes, .depth = depth, .gap = gap};
    append_frames(run, frames, depth);
    table->hashes = jr_grow(table->hashes, index, &table->hashes_room,
                            sizeof *table->hashes);
    table->hashes[index] = hash;
    table->slots[at] = index;
    return index;
}

void jr_stack_table_free(struct jr_stack_table *table)
{
    free(table->slots);
    free(table->hashes);
}
