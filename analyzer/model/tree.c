/* SPDX-License-Identifier: MIT
 *
 * Functions, their tiers, arcs and the tree of call paths.
 * Runs in: analyzer. */
#include <stdlib.h>
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

uint32_t jr_tree_child(struct jr_model *model, uint32_t parent, uint32_t tier)
{
    const uint32_t hash = jr_hash(parent, tier);
    const uint32_t function = model->tiers[tier].function;
    size_t at = hash;
    uint32_t id, arc = JR_NO_ARC;

    while ((id = jr_index_next(&model->by_path, hash, &at)) != JR_NO_ITEM)
        if (model->nodes[id].parent == parent && model->nodes[id].tier == tier)
            return id;
    id = (uint32_t)model->nnodes;
    jr_index_add(&model->by_path, hash, id);
    if (parent != 0)
        arc = arc_of(model, model->nodes[parent].function, function);
    *JR_PUSH(model->nodes, model->nnodes, model->nodes_room) = (struct jr_node){
        .parent = parent, .function = function, .tier = tier, .arc = arc};
    return id;
}

/* Nodes by their parents. */
struct family {
    uint32_t child;   /* the last one; 0: none */
    uint32_t sibling; /* the one before; 0: none */
};

/* How often each function, tier and arc is on the way from the root. */
struct seen {
    uint32_t *functions, *tiers, *arcs;
};

static void enter(struct jr_node *node, const struct seen *seen)
{
    node->first_function = seen->functions[node->function]++ == 0;
    node->first_tier = seen->tiers[node->tier]++ == 0;
    if (node->arc != JR_NO_ARC)
        node->first_arc = seen->arcs[node->arc]++ == 0;
}

static void leave(const struct jr_node *node, const struct seen *seen)
{
    seen->functions[node->function]--;
    seen->tiers[node->tier]--;
    if (node->arc != JR_NO_ARC)
        seen->arcs[node->arc]--;
}

/* Goes through the tree, children after their parents. */
static void visit(struct jr_model *model, const struct family *families,
                  const struct seen *seen)
{
    uint32_t at = families[0].child;

    while (at != 0) {
        enter(&model->nodes[at], seen);
        if (families[at].child != 0) {
            at = families[at].child;
            continue;
        }
        while (at != 0 && families[at].sibling == 0) {
            leave(&model->nodes[at], seen);
            at = model->nodes[at].parent;
        }
        if (at != 0) {
            leave(&model->nodes[at], seen);
            at = families[at].sibling;
        }
    }
}

void jr_tree_mark_first(struct jr_model *model)
{
    struct family *families = jr_alloc(model->nnodes, sizeof(*families));
    struct seen seen = {.functions =
                            jr_alloc(model->nfunctions + 1, sizeof(uint32_t)),
                        .tiers = jr_alloc(model->ntiers + 1, sizeof(uint32_t)),
                        .arcs = jr_alloc(model->narcs + 1, sizeof(uint32_t))};

    for (uint32_t i = 1; i < model->nnodes; i++) {
        struct family *parent = &families[model->nodes[i].parent];

        families[i].sibling = parent->child;
        parent->child = i;
    }
    visit(model, families, &seen);
    free(families);
    free(seen.functions);
    free(seen.tiers);
    free(seen.arcs);
}
