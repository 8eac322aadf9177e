/* SPDX-License-Identifier: MIT
 *
 * Which rows the tables of frames and stacks have in a profile for the Firefox
 * Profiler: places that the format does not tell apart are one frame, and call
 * paths of the same frames are one stack.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "firefox.h"

/* Call paths that are looked for among others, which takes some 50 bytes each
 * for a while; further ones have a row of their own. */
#define COMPARED_MOST 1000000U

/* In ns: JSON has no more than microseconds, and what is left over of ten of
 * them is held in 16 bits. */
#define UNIT_LEAST 1000U
#define UNIT_MOST 10000U
#define UNITS_A_PERIOD 100U

int jr_firefox_address(const struct jr_firefox *firefox,
                       const struct jr_place *place, uint32_t *address)
{
    *address = (uint32_t)place->address;
    return firefox->libs[place->object] && place->address < UINT32_MAX;
}

/* Gives each place its row.  JIT code has no library, so that the addresses of
 * a function that was called at several of them are one row. */
static void number_frames(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    struct jr_table known = {0};

    firefox->frames = jr_alloc(model->places.count + 1, sizeof(uint32_t));
    firefox->frame_places = jr_alloc(model->places.count + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < model->places.count; i++) {
        const struct jr_place *place = &model->places.items[i];
        const uint32_t fresh = (uint32_t)firefox->nframes;
        uint32_t address;

        if (!jr_firefox_address(firefox, place, &address))
            address = UINT32_MAX;
        firefox->frames[i] = jr_table_put(
            &known, (uint64_t)place->tier << 8 | firefox->depths[i],
            (uint64_t)address << 32 |
                jr_export_line(model, place, firefox->files),
            fresh);
        if (firefox->frames[i] == fresh)
            firefox->frame_places[firefox->nframes++] = i;
    }
    jr_table_free(&known);
}

/* By frame: whether several places have it. */
static uint8_t *shared_frames(const struct jr_firefox *firefox)
{
    uint8_t *shared = jr_alloc(firefox->nframes + 1, 1);

    for (uint32_t i = 0; i < firefox->model->places.count; i++)
        if (firefox->frame_places[firefox->frames[i]] != i)
            shared[firefox->frames[i]] = 1;
    return shared;
}

/* Gives each node its row, after that of its caller.  Two nodes can be equal
 * only where their frame is shared, or below equal ones. */
static void number_stacks(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    const struct jr_path *nodes = model->nodes.items;
    uint8_t *shared = shared_frames(firefox);
    uint8_t *compared = jr_alloc(model->nodes.count, 1);
    struct jr_table known = {0};

    firefox->stacks = jr_alloc(model->nodes.count, sizeof(uint32_t));
    firefox->stack_nodes = jr_alloc(model->nodes.count, sizeof(uint32_t));
    for (uint32_t i = 1; i < model->nodes.count; i++) {
        const uint32_t parent = nodes[i].parent;
        const uint32_t frame = firefox->frames[nodes[i].key];
        const uint32_t fresh = (uint32_t)firefox->nstacks;
        const uint64_t below = parent ? firefox->stacks[parent] + 1ULL : 0;

        compared[i] = compared[parent] || shared[frame];
        firefox->stacks[i] = compared[i] && known.used < COMPARED_MOST
                                 ? jr_table_put(&known, below, frame, fresh)
                                 : fresh;
        if (firefox->stacks[i] == fresh)
            firefox->stack_nodes[firefox->nstacks++] = i;
    }
    jr_table_free(&known);
    free(compared);
    free(shared);
}

/* The kind of idleness of a sample; 0: the thread ran. */
static uint8_t idle_kind(unsigned event)
{
    return event == JP_EVENT_WALL_BLOCKED ? JR_IDLE_BLOCKED
           : event == JP_EVENT_WALL_READY ? JR_IDLE_READY
                                          : 0;
}

static void number_idles_of(struct jr_firefox *firefox, uint32_t process)
{
    struct jr_again *again = firefox->order.again;
    const struct jr_seen *seen;

    jr_again_process(again, process);
    while ((seen = jr_again_next(again)) != NULL) {
        const uint8_t kind = idle_kind(seen->event);
        const uint32_t fresh = (uint32_t)firefox->nidles;

        if (kind && seen->node &&
            jr_table_put(&firefox->by_idle, firefox->stacks[seen->node], kind,
                         fresh) == fresh)
            *JR_PUSH(firefox->idles, firefox->nidles, firefox->idles_room) =
                (struct jr_idle){seen->node, kind};
    }
}

/* Only processes with such samples are gone through for them. */
static void number_idles(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;

    for (uint32_t i = 0; i < model->nprocesses; i++)
        for (unsigned event = 0; event < JP_EVENT_COUNT; event++)
            if (idle_kind(event) &&
                (model->processes[i].run->events >> event & 1)) {
                number_idles_of(firefox, i);
                break;
            }
}

void jr_firefox_number_rows(struct jr_firefox *firefox)
{
    size_t count;

    number_frames(firefox);
    number_stacks(firefox);
    number_idles(firefox);
    count = firefox->nstacks + firefox->nidles + 1;
    firefox->weight_rests = jr_alloc(count, sizeof(int16_t));
    firefox->cpu_rests = jr_alloc(count, sizeof(int16_t));
    firefox->unit_ns = UNIT_LEAST;
    while (firefox->unit_ns < UNIT_MOST &&
           firefox->unit_ns * 10 <= firefox->model->period_ns / UNITS_A_PERIOD)
        firefox->unit_ns *= 10;
}

void jr_firefox_free_rows(struct jr_firefox *firefox)
{
    free(firefox->frames);
    free(firefox->frame_places);
    free(firefox->stacks);
    free(firefox->stack_nodes);
    free(firefox->idles);
    free(firefox->weight_rests);
    free(firefox->cpu_rests);
    jr_table_free(&firefox->by_idle);
}

int64_t jr_firefox_stack(const struct jr_firefox *firefox,
                         const struct jr_seen *seen)
{
    const uint8_t kind = idle_kind(seen->event);

    if (seen->node == 0)
        return -1;
    if (kind == 0)
        return firefox->stacks[seen->node];
    /* It is there: nothing is added. */
    return (int64_t)firefox->nstacks +
           jr_table_put((struct jr_table *)&firefox->by_idle,
                        firefox->stacks[seen->node], kind, UINT32_MAX - 1);
}

uint64_t jr_firefox_round(const struct jr_firefox *firefox,
                          const struct jr_seen *seen, int16_t *rests)
{
    const uint64_t unit_ns = firefox->unit_ns;
    const int64_t stack = jr_firefox_stack(firefox, seen);
    int16_t *rest =
        &rests[stack < 0 ? (int64_t)firefox->nstacks + (int64_t)firefox->nidles
                         : stack];
    uint64_t whole;

    if (seen->weight_ns > UINT64_MAX / 2)
        return seen->weight_ns;
    /* A rest is not less than minus half a unit. */
    whole = seen->weight_ns + unit_ns / 2 + (uint64_t)(int64_t)*rest;
    whole -= whole % unit_ns;
    *rest = (int16_t)((int64_t)seen->weight_ns + *rest - (int64_t)whole);
    return whole;
}
