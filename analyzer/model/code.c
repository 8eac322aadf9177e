/* SPDX-License-Identifier: MIT
 *
 * Sampled addresses to pieces of code.
 * Runs in: analyzer. */
#include "code.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

/* A function that was at a spot, if inlined. */
struct pair {
    uint32_t function, spot;
};

struct jr_codes {
    const struct jr_model *model;
    struct pair *pairs; /* by function, then spot */
    size_t npairs, room;
};

/* A sampled address with the code that was there. */
struct place {
    uint32_t spot;
    uint64_t address; /* as the code counts it */
    struct jr_code_piece code;
};

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    int by = by_number(a->function, b->function);

    return by ? by : by_number(a->spot, b->spot);
}

static void add_pair(struct jr_codes *codes, uint32_t function, uint32_t spot)
{
    for (size_t i = codes->npairs; i > 0 && codes->pairs[i - 1].spot == spot;
         i--)
        if (codes->pairs[i - 1].function == function)
            return;
    *JR_PUSH(codes->pairs, codes->npairs, codes->room) =
        (struct pair){function, spot};
}

/* Whether no function is known to be inlined into this one's code. */
static int is_alone(const struct jr_function *function)
{
    return function->kind == JR_FRAME_JIT || function->kind == JR_FRAME_SCRIPT;
}

/* Adds the functions of a spot: in a file, all that were inlined there. */
static void add_spot(struct jr_codes *codes, uint32_t number)
{
    const struct jr_model *model = codes->model;
    const struct jr_spot *spot = &model->spots[number];
    const uint32_t function = model->tiers[spot->tier].function;
    struct jr_hit hit;

    if (spot->samples == 0)
        return;
    add_pair(codes, function, number);
    if (is_alone(&model->functions[function]))
        return;
    jr_space_find(model->processes[spot->process].space, spot->address,
                  spot->time_ns, 0, &hit);
    for (size_t i = 1; i < hit.nframes; i++) {
        const uint32_t frame = hit.frames[i].number;

        if (frame < model->nframe_tiers && model->frame_tiers[frame] > 0)
            add_pair(codes,
                     model->tiers[model->frame_tiers[frame] - 1].function,
                     number);
    }
}

struct jr_codes *jr_codes_new(const struct jr_model *model)
{
    struct jr_codes *codes = jr_alloc(1, sizeof(*codes));

    codes->model = model;
    for (size_t i = 0; i < model->nspots; i++)
        add_spot(codes, (uint32_t)i);
    if (codes->npairs > 0)
        qsort(codes->pairs, codes->npairs, sizeof(*codes->pairs),
              compare_pairs);
    return codes;
}

void jr_codes_free(struct jr_codes *codes)
{
    free(codes->pairs);
    free(codes);
}

/* The function's first pair, or where it would be. */
static size_t first_pair(const struct jr_codes *codes, uint32_t function)
{
    return JR_FIRST_NOT(codes->npairs, i, codes->pairs[i].function < function);
}

/* What tells one piece from others: its text, or its file. */
static uintptr_t identity_of(const struct jr_code_piece *code)
{
    return code->module ? (uintptr_t)code->module : (uintptr_t)code->jit.text;
}

/* Places of one piece of code are neighbours, by rising address. */
static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    const char *file = jr_code_module(&a->code);
    const char *other = jr_code_module(&b->code);
    int by = (file != NULL) - (other != NULL);

    if (by == 0 && file)
        by = strcmp(file, other);
    if (by == 0)
        by = by_number(a->code.start, b->code.start);
    if (by == 0)
        by = by_number(a->code.loaded_ns, b->code.loaded_ns);
    if (by == 0)
        by = by_number(identity_of(&a->code), identity_of(&b->code));
    if (by == 0)
        by = by_number(a->address, b->address);
    return by ? by : by_number(a->spot, b->spot);
}

static int same_code(const struct place *a, const struct place *b)
{
    return identity_of(&a->code) == identity_of(&b->code) &&
           a->code.start == b->code.start && a->code.end == b->code.end;
}

static int compare_versions(const void *left, const void *right)
{
    const struct jr_code_version *a = left, *b = right;
    int by = by_number(b->weight_ns, a->weight_ns);

    if (by == 0)
        by = by_number(a->code.loaded_ns, b->code.loaded_ns);
    return by ? by : by_number(a->code.start, b->code.start);
}

static struct place *find_places(const struct jr_codes *codes,
                                 uint32_t function, size_t *count)
{
    const struct jr_model *model = codes->model;
    struct place *places = NULL;
    size_t room = 0;

    *count = 0;
    for (size_t i = first_pair(codes, function);
         i < codes->npairs && codes->pairs[i].function == function; i++) {
        const struct jr_spot *spot = &model->spots[codes->pairs[i].spot];
        struct place place = {.spot = codes->pairs[i].spot};

        if (jr_code_find(model->processes[spot->process].space, spot->address,
                         spot->time_ns, &place.code, &place.address) == 0)
            *JR_PUSH(places, *count, room) = place;
    }
    if (*count > 0)
        qsort(places, *count, sizeof(*places), compare_places);
    return places;
}

/* The tier in which `spot` is of the function: its own, where it is that of
 * JIT code, else the function's first. */
static uint32_t tier_of(const struct jr_model *model,
                        const struct jr_spot *spot, uint32_t function)
{
    return model->tiers[spot->tier].function == function
               ? spot->tier
               : model->functions[function].first_tier - 1;
}

/* Adds a place to the last version, or begins one. */
static void add_place(const struct jr_model *model, struct jr_code_view *view,
                      const struct place *place, int is_new)
{
    struct jr_code_version *version;
    const struct jr_spot *spot = &model->spots[place->spot];

    if (is_new)
        *JR_PUSH(view->versions, view->nversions, view->versions_room) =
            (struct jr_code_version){.code = place->code,
                                     .process = spot->process,
                                     .tier =
                                         tier_of(model, spot, view->function),
                                     .hits = view->hits + view->nhits};
    version = &view->versions[view->nversions - 1];
    version->weight_ns = jr_add(version->weight_ns, spot->weight_ns);
    version->samples += spot->samples;
    if (version->nhits == 0 ||
        version->hits[version->nhits - 1].address != place->address) {
        view->hits[view->nhits++] = (struct jr_code_hit){place->address, 0};
        version->nhits++;
    }
    view->hits[view->nhits - 1].weight_ns =
        jr_add(view->hits[view->nhits - 1].weight_ns, spot->weight_ns);
    view->members[view->nmembers++] =
        (struct jr_code_member){place->spot, (uint32_t)view->nhits - 1};
    view->weight_ns = jr_add(view->weight_ns, spot->weight_ns);
    if (model->tiers[spot->tier].function == view->function)
        view->self_ns = jr_add(view->self_ns, spot->weight_ns);
}

void jr_code_build(const struct jr_codes *codes, uint32_t function,
                   struct jr_code_view *view)
{
    size_t count;
    struct place *places = find_places(codes, function, &count);

    *view = (struct jr_code_view){.function = function};
    view->hits = jr_alloc(count + 1, sizeof(*view->hits));
    view->members = jr_alloc(count + 1, sizeof(*view->members));
    for (size_t i = 0; i < count; i++)
        add_place(codes->model, view, &places[i],
                  i == 0 || !same_code(&places[i - 1], &places[i]));
    if (view->nversions > 0)
        qsort(view->versions, view->nversions, sizeof(*view->versions),
              compare_versions);
    free(places);
}

void jr_code_free(struct jr_code_view *view)
{
    free(view->versions);
    free(view->hits);
    free(view->members);
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

uint32_t *jr_code_hottest(const struct jr_codes *codes, size_t *count)
{
    const struct jr_model *model = codes->model;
    struct weighed *all = jr_alloc(model->nfunctions + 1, sizeof(*all));
    uint32_t *functions = jr_alloc(model->nfunctions + 1, sizeof(*functions));

    for (uint32_t i = 0; i < model->nfunctions; i++)
        all[i].function = i;
    for (size_t i = 0; i < codes->npairs; i++) {
        struct weighed *one = &all[codes->pairs[i].function];

        one->weight_ns = jr_add(one->weight_ns,
                                model->spots[codes->pairs[i].spot].weight_ns);
    }
    if (model->nfunctions > 0)
        qsort(all, model->nfunctions, sizeof(*all), compare_weighed);
    for (*count = 0; *count < model->nfunctions && all[*count].weight_ns > 0;
         ++*count)
        functions[*count] = all[*count].function;
    free(all);
    return functions;
}

/* Whether the frame, one of jr_code_frames of a file's code, is of the
 * function. */
static int is_of(const struct jr_function *function,
                 const struct jr_frame *frame)
{
    return frame->name == function->name && frame->module == function->module &&
           frame->inlined == function->inlined;
}

size_t jr_code_depth(const struct jr_function *function,
                     const struct jr_frames *frames)
{
    if (is_alone(function))
        return frames->count;
    for (size_t count = frames->count; count > 0; count--)
        if (is_of(function, &frames->items[count - 1]))
            return count;
    return 0;
}
