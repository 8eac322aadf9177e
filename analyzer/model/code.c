/* SPDX-License-Identifier: MIT
 *
 * Sampled addresses to pieces of JIT code.
 * Runs in: analyzer. */
#include "code.h"

#include <stdlib.h>

#include "base/mem.h"

/* A sampled address with the code that was there. */
struct place {
    const struct jr_spot *spot;
    struct jr_jit_code code;
};

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Places of one piece of code are neighbours, by rising address. */
static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int by = by_number(a->spot->process, b->spot->process);

    if (by == 0)
        by = by_number(a->code.start, b->code.start);
    if (by == 0)
        by = by_number(a->code.loaded_ns, b->code.loaded_ns);
    if (by == 0)
        by = by_number((uintptr_t)a->code.text, (uintptr_t)b->code.text);
    return by ? by : by_number(a->spot->address, b->spot->address);
}

static int same_code(const struct place *a, const struct place *b)
{
    return a->spot->process == b->spot->process && a->code.text == b->code.text;
}

static int compare_versions(const void *left, const void *right)
{
    const struct jr_code_version *a = left, *b = right;
    int by = by_number(b->weight_ns, a->weight_ns);

    if (by == 0)
        by = by_number(a->code.loaded_ns, b->code.loaded_ns);
    return by ? by : by_number(a->code.start, b->code.start);
}

static struct place *find_places(const struct jr_model *model,
                                 uint32_t function, size_t *count)
{
    struct place *places = NULL;
    size_t room = 0;

    *count = 0;
    for (size_t i = 0; i < model->nspots; i++) {
        const struct jr_spot *spot = &model->spots[i];
        struct place place = {.spot = spot};

        if (spot->samples == 0 || model->tiers[spot->tier].function != function)
            continue;
        if (jr_jit_code_find(model->processes[spot->process].space,
                             spot->address, spot->time_ns, &place.code) == 0)
            *JR_PUSH(places, *count, room) = place;
    }
    if (*count > 0)
        qsort(places, *count, sizeof(*places), compare_places);
    return places;
}

/* Adds a place to the last version, or begins one. */
static void add_place(struct jr_code_view *view, const struct place *place,
                      int is_new)
{
    struct jr_code_version *version;
    const struct jr_spot *spot = place->spot;

    if (is_new)
        *JR_PUSH(view->versions, view->nversions, view->versions_room) =
            (struct jr_code_version){.code = place->code,
                                     .process = spot->process,
                                     .tier = spot->tier,
                                     .hits = view->hits + view->nhits};
    version = &view->versions[view->nversions - 1];
    version->weight_ns = jr_add(version->weight_ns, spot->weight_ns);
    version->samples += spot->samples;
    if (version->nhits > 0 &&
        version->hits[version->nhits - 1].address == spot->address) {
        struct jr_code_hit *hit = &view->hits[view->nhits - 1];

        hit->weight_ns = jr_add(hit->weight_ns, spot->weight_ns);
        return;
    }
    view->hits[view->nhits++] =
        (struct jr_code_hit){spot->address, spot->weight_ns};
    version->nhits++;
}

void jr_code_build(const struct jr_model *model, uint32_t function,
                   struct jr_code_view *view)
{
    size_t count;
    struct place *places = find_places(model, function, &count);

    *view = (struct jr_code_view){0};
    view->hits = jr_alloc(count + 1, sizeof(*view->hits));
    for (size_t i = 0; i < count; i++) {
        add_place(view, &places[i],
                  i == 0 || !same_code(&places[i - 1], &places[i]));
        view->weight_ns = jr_add(view->weight_ns, places[i].spot->weight_ns);
    }
    if (view->nversions > 0)
        qsort(view->versions, view->nversions, sizeof(*view->versions),
              compare_versions);
    free(places);
}

void jr_code_free(struct jr_code_view *view)
{
    free(view->versions);
    free(view->hits);
    *view = (struct jr_code_view){0};
}

struct weighed {
    uint32_t function;
    uint64_t weight_ns;
};

static int compare_weighed(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;
    int by = by_number(b->weight_ns, a->weight_ns);

    return by ? by : by_number(a->function, b->function);
}

uint32_t *jr_code_hottest(const struct jr_model *model, size_t most,
                          size_t *count)
{
    struct weighed *all = jr_alloc(model->nfunctions + 1, sizeof(*all));
    uint32_t *functions = jr_alloc(most + 1, sizeof(*functions));

    for (uint32_t i = 0; i < model->nfunctions; i++)
        all[i].function = i;
    for (size_t i = 0; i < model->nspots; i++) {
        struct weighed *one = &all[model->tiers[model->spots[i].tier].function];

        one->weight_ns = jr_add(one->weight_ns, model->spots[i].weight_ns);
    }
    qsort(all, model->nfunctions, sizeof(*all), compare_weighed);
    for (*count = 0; *count < most && *count < model->nfunctions &&
                     all[*count].weight_ns > 0;
         ++*count)
        functions[*count] = all[*count].function;
    free(all);
    return functions;
}
