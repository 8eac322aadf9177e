/* SPDX-License-Identifier: MIT
 *
 * Adds to a profile: places of text formats, which name them anew in each
 * line, are found by their frames; samples are counted.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "foreign.h"

#define REMARKS_MOST 8

static int is_same_text(struct jr_slice one, struct jr_slice other)
{
    return one.length == other.length &&
           (one.length == 0 || memcmp(one.text, other.text, one.length) == 0);
}

static int is_same(const struct jr_foreign_frame *one,
                   const struct jr_foreign_frame *other)
{
    return is_same_text(one->name, other->name) &&
           is_same_text(one->module, other->module) &&
           is_same_text(one->file, other->file) && one->line == other->line &&
           one->tier == other->tier && one->is_jit == other->is_jit &&
           one->is_unnamed == other->is_unnamed;
}

static uint32_t hash_of(const struct jr_foreign_frame *frames, uint32_t count,
                        uint64_t address)
{
    uint32_t hash = jr_hash(address, count);

    for (uint32_t i = 0; i < count; i++) {
        const struct jr_foreign_frame *frame = &frames[i];
        const uint64_t texts =
            (uint64_t)jr_hash_text(frame->name.text, frame->name.length) << 32 |
            jr_hash_text(frame->module.text, frame->module.length);

        hash = jr_hash((uint64_t)hash << 32 | frame->line, texts);
    }
    return hash;
}

uint32_t jr_foreign_place_of(struct jr_foreign *foreign,
                             struct jr_foreign_known *known,
                             const struct jr_foreign_frame *frames,
                             uint32_t count, uint64_t address)
{
    const uint32_t hash = hash_of(frames, count, address);
    size_t at = hash;
    uint32_t found, same;

    while ((found = jr_index_next(&known->by_hash, hash, &at)) != JR_NO_ITEM) {
        const struct jr_foreign_place *place = &foreign->places[found];

        if (place->count != count || place->address != address)
            continue;
        for (same = 0; same < count; same++)
            if (!is_same(&foreign->frames[place->first + same], &frames[same]))
                break;
        if (same == count)
            return found;
    }
    if (foreign->nplaces == JR_FOREIGN_PLACES ||
        foreign->nframes > JR_FOREIGN_PLACES) {
        foreign->is_full = 1;
        return JR_NO_ITEM;
    }
    found = (uint32_t)foreign->nplaces;
    jr_index_add(&known->by_hash, hash, found);
    *JR_PUSH(foreign->places, foreign->nplaces, foreign->places_room) =
        (struct jr_foreign_place){.first = (uint32_t)foreign->nframes,
                                  .count = count,
                                  .address = address};
    for (uint32_t i = 0; i < count; i++)
        *JR_PUSH(foreign->frames, foreign->nframes, foreign->frames_room) =
            frames[i];
    return found;
}

int jr_foreign_push(struct jr_foreign *foreign,
                    struct jr_foreign_sample *sample, uint32_t place)
{
    if (sample->count == JR_FOREIGN_DEPTH) {
        foreign->cut++;
        return -1;
    }
    *JR_PUSH(foreign->stacks, foreign->nstacks, foreign->stacks_room) = place;
    sample->count++;
    return 0;
}

void jr_foreign_add(struct jr_foreign *foreign,
                    const struct jr_foreign_sample *sample, int is_good)
{
    if (foreign->nsamples == JR_FOREIGN_SAMPLES ||
        foreign->nstacks > UINT32_MAX)
        foreign->is_full = 1;
    else if (is_good) {
        *JR_PUSH(foreign->samples, foreign->nsamples, foreign->samples_room) =
            *sample;
        return;
    }
    foreign->nstacks = sample->first;
}

void jr_foreign_remark(struct jr_foreign *foreign, char *remark)
{
    if (foreign->nremarks == REMARKS_MOST)
        free(remark);
    else
        *JR_PUSH(foreign->remarks, foreign->nremarks, foreign->remarks_room) =
            remark;
}
