/* SPDX-License-Identifier: MIT
 *
 * Functions, their tiers and arcs, and what is new on a way from the root.
 * Runs in: analyzer. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define AHEAD 16    /* nodes whose arcs are on their way */
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

/* A number that tells functions of one name apart: the address of the module's
 * name, or of the tier's, as code with a tier is always of the module "[jit]";
 * of a part of native code its number, which is smaller than an address. */
static uint64_t where_of(struct jr_model *model, const struct jr_frame *frame,
                         const char *tier)
{
    if (!tier)
        return (uintptr_t)frame->module;
    if (frame->kind == JR_FRAME_JIT)
        return (uintptr_t)tier;
    return jr_table_put(&model->by_part, (uintptr_t)tier,
                        (uintptr_t)frame->module,
                        (uint32_t)model->by_part.used) +
           1ULL;
}

static uint32_t function_of(struct jr_model *model,
                            const struct jr_frame *frame)
{
    int raw = model->filter.tiers == JR_TIERS_RAW && frame->raw &&
              frame->kind == JR_FRAME_JIT;
    const char *name = raw ? frame->raw : frame->name;
    const char *tier = telling_tier(model, frame);
    uint32_t fresh = (uint32_t)model->nfunctions;
    uint64_t where = where_of(model, frame, tier);
    uint32_t id;

    /* Where a function was inlined it is another one than where it was not;
     * no address of a string is the complement of another's. */
    id = jr_table_put(&model->by_name, (uintptr_t)name,
                      frame->inlined ? ~where : where, fresh);
    if (id == fresh)
        *JR_PUSH(model->functions, model->nfunctions, model->functions_room) =
            (struct jr_function){.name = name,
                                 .module = frame->module,
                                 .tier = tier,
                                 .raw = frame->raw,
                                 .first_line = frame->first_line,
                                 .kind = frame->kind,
                                 .inlined = frame->inlined};
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

/* The call that a node is, which is not right below the root. */
static struct jr_arc call_at(const struct jr_model *model, size_t node)
{
    return (struct jr_arc){
        .caller = jr_node_function(model, model->nodes.items[node].parent),
        .callee = jr_node_function(model, node)};
}

static uint32_t arc_of(struct jr_model *model, struct jr_index *by_arc,
                       struct jr_arc arc)
{
    const uint32_t hash = jr_hash(arc.caller, arc.callee);
    size_t at = hash;
    uint32_t id;

    while ((id = jr_index_next(by_arc, hash, &at)) != JR_NO_ITEM)
        if (model->arcs[id].caller == arc.caller &&
            model->arcs[id].callee == arc.callee)
            return id;
    id = (uint32_t)model->narcs;
    jr_index_add(by_arc, hash, id);
    *JR_PUSH(model->arcs, model->narcs, model->arcs_room) = arc;
    return id;
}

static void find_arcs(struct jr_model *model)
{
    const struct jr_path *nodes = model->nodes.items;
    struct jr_index by_arc = {0};

    model->node_arcs = jr_alloc(model->nodes.count, sizeof(*model->node_arcs));
    for (size_t i = 0; i < model->nodes.count; i++) {
        const size_t later = i + AHEAD;

        if (later < model->nodes.count && nodes[later].parent != 0) {
            const struct jr_arc arc = call_at(model, later);

            jr_index_prefetch(&by_arc, jr_hash(arc.caller, arc.callee));
        }
        model->node_arcs[i] = nodes[i].parent == 0
                                  ? JR_NO_ARC
                                  : arc_of(model, &by_arc, call_at(model, i));
    }
    jr_index_free(&by_arc);
}

/* How often each function, tier and arc is on the way from the root. */
struct seen {
    uint32_t *functions, *tiers, *arcs;
};

static uint32_t *arc_seen(const struct jr_model *model, const struct seen *seen,
                          uint32_t node)
{
    const uint32_t arc = model->node_arcs ? model->node_arcs[node] : JR_NO_ARC;

    return arc == JR_NO_ARC ? NULL : &seen->arcs[arc];
}

static void enter(struct jr_model *model, const struct seen *seen,
                  uint32_t node)
{
    uint32_t *arc = arc_seen(model, seen, node);
    uint8_t first = 0;

    if (seen->functions[jr_node_function(model, node)]++ == 0)
        first |= JR_FIRST_FUNCTION;
    if (seen->tiers[jr_node_tier(model, node)]++ == 0)
        first |= JR_FIRST_TIER;
    if (arc && (*arc)++ == 0)
        first |= JR_FIRST_ARC;
    model->first[node] = first;
}

static void leave(const struct jr_model *model, const struct seen *seen,
                  uint32_t node)
{
    uint32_t *arc = arc_seen(model, seen, node);

    seen->functions[jr_node_function(model, node)]--;
    seen->tiers[jr_node_tier(model, node)]--;
    if (arc)
        (*arc)--;
}

/* Goes through the tree, children after their parents. */
static void visit(struct jr_model *model, const struct seen *seen)
{
    const struct jr_path_links *links = model->nodes.links;
    uint32_t at = links[0].child;

    while (at != 0) {
        enter(model, seen, at);
        if (links[at].child != 0) {
            at = links[at].child;
            continue;
        }
        while (at != 0 && links[at].sibling == 0) {
            leave(model, seen, at);
            at = model->nodes.items[at].parent;
        }
        if (at != 0) {
            leave(model, seen, at);
            at = links[at].sibling;
        }
    }
}

void jr_tree_finish(struct jr_model *model)
{
    struct seen seen;

    if (jr_filter_needs(&model->filter, JR_NEEDS_CALLS))
        find_arcs(model);
    seen = (struct seen){.functions =
                             jr_alloc(model->nfunctions + 1, sizeof(uint32_t)),
                         .tiers = jr_alloc(model->ntiers + 1, sizeof(uint32_t)),
                         .arcs = jr_alloc(model->narcs + 1, sizeof(uint32_t))};
    model->first = jr_alloc(model->nodes.count, 1);
    visit(model, &seen);
    free(seen.functions);
    free(seen.tiers);
    free(seen.arcs);
}
