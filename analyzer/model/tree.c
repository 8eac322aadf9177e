/* SPDX-License-Identifier: MIT
 *
 * Functions, their tiers, arcs and the tree of call paths.
 * Runs in: analyzer. */
#include <string.h>

#include "base/mem.h"
#include "model.h"

#define FRAMES 1024 /* whose tiers are kept at first */

/* The word of a frame's tier when it is part of the function's identity, else
 * NULL. */
static const char *telling_tier(const struct jr_model *model,
                                const struct jr_frame *frame)
{
    if (model->filter.tiers == JR_TIERS_SPLIT ||
        (model->filter.tiers == JR_TIERS_MERGE && frame->is_kind))
        return frame->tier;
    return NULL;
}

static uint32_t function_of(struct jr_model *model,
                            const struct jr_frame *frame)
{
    int raw = model->filter.tiers == JR_TIERS_RAW && frame->raw;
    const char *name = raw ? frame->raw : frame->name;
    const char *tier = telling_tier(model, frame);
    uint32_t fresh = (uint32_t)model->nfunctions;
    uint32_t id;

    /* Code with a tier is always of the module "[jit]". */
    id = jr_table_put(&model->by_name, (uintptr_t)name,
                      (uintptr_t)(tier ? tier : frame->module), fresh);
    if (id == fresh)
        *JR_PUSH(model->functions, model->nfunctions, model->functions_room) =
            (struct jr_function){.name = name,
                                 .module = frame->module,
                                 .tier = tier,
                                 .raw = frame->raw,
                                 .kind = frame->kind};
    return id;
}

static uint32_t tier_of(struct jr_model *model, const struct jr_frame *frame)
{
    uint32_t function = function_of(model, frame);
    uint32_t fresh = (uint32_t)model->ntiers;
    uint32_t *first = &model->functions[function].first_tier;
    uint32_t id;

    if (*first == 0)
        *first = fresh + 1;
    id = *first - 1;
    if (id != fresh && model->tiers[id].word != frame->tier)
        id = jr_table_put(&model->by_tier, function, (uintptr_t)frame->tier,
                          fresh);
    if (id == fresh)
        *JR_PUSH(model->tiers, model->ntiers, model->tiers_room) =
            (struct jr_tier){.function = function,
                             .word = frame->tier,
                             .raw = frame->raw ? frame->raw : frame->name};
    return id;
}

/* The place where the tier of the frame is kept, plus one. */
static uint32_t *kept_tier(struct jr_model *model, uint32_t number)
{
    size_t wanted = model->nframe_tiers ? model->nframe_tiers : FRAMES;

    if (number < model->nframe_tiers)
        return &model->frame_tiers[number];
    while (wanted <= number)
        wanted *= 2;
    model->frame_tiers =
        jr_realloc(model->frame_tiers, wanted, sizeof(*model->frame_tiers));
    memset(model->frame_tiers + model->nframe_tiers, 0,
           (wanted - model->nframe_tiers) * sizeof(*model->frame_tiers));
    model->nframe_tiers = wanted;
    return &model->frame_tiers[number];
}

uint32_t jr_tree_tier(struct jr_model *model, const struct jr_frame *frame)
{
    uint32_t *kept = kept_tier(model, frame->number);

    if (frame->number == 0)
        return tier_of(model, frame);
    if (*kept == 0)
        *kept = tier_of(model, frame) + 1;
    return *kept - 1;
}

static uint32_t arc_of(struct jr_model *model, uint32_t caller, uint32_t callee)
{
    uint32_t fresh = (uint32_t)model->narcs;
    uint32_t id = jr_table_put(&model->by_arc, caller, callee, fresh);

    if (id == fresh)
        *JR_PUSH(model->arcs, model->narcs, model->arcs_room) =
            (struct jr_arc){.caller = caller, .callee = callee};
    return id;
}

/* The node below `parent`; marks its tier, function and arc as seen on the
 * stack that is being inserted, whose number is model->stamp. */
static uint32_t step(struct jr_model *model, uint32_t parent, uint32_t tier)
{
    uint32_t function = model->tiers[tier].function;
    uint32_t fresh = (uint32_t)model->nnodes;
    uint32_t id = jr_table_put(&model->by_path, parent, tier, fresh);
    struct jr_node *node;

    if (id == fresh) {
        uint32_t arc = JR_NO_ARC;

        if (parent != 0)
            arc = arc_of(model, model->nodes[parent].function, function);
        node = JR_PUSH(model->nodes, model->nnodes, model->nodes_room);
        *node = (struct jr_node){
            .parent = parent, .function = function, .tier = tier, .arc = arc};
        node->first_function = model->functions[function].stamp != model->stamp;
        node->first_tier = model->tiers[tier].stamp != model->stamp;
        node->first_arc =
            arc != JR_NO_ARC && model->arcs[arc].stamp != model->stamp;
    }
    node = &model->nodes[id];
    model->functions[function].stamp = model->stamp;
    model->tiers[tier].stamp = model->stamp;
    if (node->arc != JR_NO_ARC)
        model->arcs[node->arc].stamp = model->stamp;
    return id;
}

/* The stamp numbers the insertions; when it wraps, old stamps are wiped. */
static void next_stamp(struct jr_model *model)
{
    if (++model->stamp != 0)
        return;
    for (size_t i = 0; i < model->nfunctions; i++)
        model->functions[i].stamp = 0;
    for (size_t i = 0; i < model->ntiers; i++)
        model->tiers[i].stamp = 0;
    for (size_t i = 0; i < model->narcs; i++)
        model->arcs[i].stamp = 0;
    model->stamp = 1;
}

uint32_t jr_tree_insert(struct jr_model *model, const uint32_t *path,
                        size_t length)
{
    uint32_t node = 0;

    next_stamp(model);
    while (length-- > 0)
        node = step(model, node, path[length]);
    return node;
}
