/* SPDX-License-Identifier: MIT
 *
 * A profile of several processes: the samples of one, counted once for each.
 * Runs in: tests. */
#ifndef COPIES_FIXTURE_H
#define COPIES_FIXTURE_H

#include "model/build.h"
#include "model/collect.h"
#include "profile_fixture.h"

#define COPIES_MAX 64

struct copies {
    struct profile one;
    struct jr_run runs[COPIES_MAX];
    struct jr_map maps[COPIES_MAX];
    size_t count;
};

/* The samples of `copies->one` become those of `count` processes 100, 101...,
 * whose headers and maps may be changed before copies_model. */
static inline void copies_make(struct copies *copies, const char *events,
                               size_t count)
{
    struct jr_filter filter = everything();

    profile_model(&copies->one, events, &filter, NULL);
    jr_model_free(&copies->one.model);
    copies->count = count;
    for (size_t i = 0; i < count; i++) {
        copies->runs[i] = copies->one.log.runs[0];
        copies->runs[i].header.pid = (uint32_t)(100 + i);
        copies->maps[i] = copies->one.map;
    }
}

static inline struct jr_model *copies_model(struct copies *copies,
                                            const struct jr_filter *filter)
{
    struct jr_model *model = &copies->one.model;

    jr_model_init(model, filter);
    for (size_t i = 0; i < copies->count; i++)
        jr_model_add(model, &copies->one.log, &copies->runs[i],
                     &(struct jr_code){&copies->maps[i], copies->one.space},
                     (struct jr_neighbours){0});
    jr_model_finish(model);
    return model;
}

#endif
