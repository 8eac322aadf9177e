/* SPDX-License-Identifier: MIT
 *
 * Builds one part of a report from the tree: functions with self and total,
 * callers and callees, in the order in which they are shown.
 * Runs in: analyzer. */
#include "part_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tiers.h"

#define NO_ROW UINT32_MAX

/* Weights of a part, indexed as in the model. */
struct sums {
    uint64_t *self, *total;           /* by function */
    uint64_t *arc;                    /* by arc */
    uint64_t *tier_self, *tier_total; /* by tier */
    uint32_t *row;                    /* by function: its row, or NO_ROW */
};

/* Carries the weights from the leaves to the roots: a node comes after its
 * parent, so one pass from the last to the first is enough. */
static void sum_up(const struct jr_model *model, uint64_t *weights,
                   struct sums *sums)
{
    const struct jr_path *nodes = model->nodes.items;

    for (size_t i = model->nodes.count; i-- > 1;) {
        uint32_t function = jr_node_function(model, i),
                 tier = jr_node_tier(model, i);

        if (weights[i] == 0)
            continue;
        sums->self[function] = jr_add(sums->self[function], weights[i]);
        sums->tier_self[tier] = jr_add(sums->tier_self[tier], weights[i]);
    }
    for (size_t i = model->nodes.count; i-- > 1;) {
        uint32_t function = jr_node_function(model, i),
                 tier = jr_node_tier(model, i);

        if (weights[i] == 0)
            continue;
        if (model->first[i] & JR_FIRST_FUNCTION)
            sums->total[function] = jr_add(sums->total[function], weights[i]);
        if (model->first[i] & JR_FIRST_TIER)
            sums->tier_total[tier] = jr_add(sums->tier_total[tier], weights[i]);
        if (model->first[i] & JR_FIRST_ARC)
            sums->arc[model->node_arcs[i]] =
                jr_add(sums->arc[model->node_arcs[i]], weights[i]);
        weights[nodes[i].parent] = jr_add(weights[nodes[i].parent], weights[i]);
    }
}

/* For the comparisons below. */
struct order {
    const struct jr_model *model;
    const struct jr_part *part;
};

int jr_part_compare_functions(const struct jr_model *model, uint32_t a,
                              uint32_t b)
{
    const struct jr_function *x = &model->functions[a];
    const struct jr_function *y = &model->functions[b];
    int by = strcmp(x->name, y->name);

    if (by == 0)
        by = strcmp(x->module, y->module);
    if (by == 0)
        by = strcmp(x->tier ? x->tier : "", y->tier ? y->tier : "");
    return by;
}

static int heavier(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int compare_rows(const void *left, const void *right, void *data)
{
    const struct jr_row *a = left, *b = right;
    const struct order *order = data;
    int by = heavier(a->total_ns, b->total_ns);

    if (by == 0)
        by = heavier(a->self_ns, b->self_ns);
    return by ? by
              : jr_part_compare_functions(order->model, a->function,
                                          b->function);
}

static int compare_flat(const void *left, const void *right, void *data)
{
    const struct order *order = data;
    const struct jr_row *a = &order->part->rows[*(const uint32_t *)left];
    const struct jr_row *b = &order->part->rows[*(const uint32_t *)right];
    int by = heavier(a->self_ns, b->self_ns);

    if (by == 0)
        by = heavier(a->total_ns, b->total_ns);
    return by ? by
              : jr_part_compare_functions(order->model, a->function,
                                          b->function);
}

static int compare_links(const void *left, const void *right)
{
    const struct jr_link *a = left, *b = right;
    int by = heavier(a->weight_ns, b->weight_ns);

    return by ? by : a->row < b->row ? -1 : a->row > b->row;
}

/* Puts the `most` first of the links in order, heaviest first; the others come
 * behind them in none. */
static void order_links(struct jr_link *links, size_t count, size_t most)
{
    const size_t first = count < most ? count : most;

    if (first == 0)
        return;
    qsort(links, first, sizeof(*links), compare_links);
    for (size_t i = first; i < count; i++) {
        const struct jr_link link = links[i];
        size_t at = first;

        while (at > 0 && compare_links(&link, &links[at - 1]) < 0)
            at--;
        if (at == first)
            continue;
        links[i] = links[first - 1];
        memmove(links + at + 1, links + at, (first - 1 - at) * sizeof(*links));
        links[at] = link;
    }
}

static void build_rows(struct order *order, struct jr_part *part,
                       struct sums *sums)
{
    const struct jr_model *model = order->model;

    part->rows = jr_alloc(model->nfunctions + 1, sizeof(*part->rows));
    part->flat = jr_alloc(model->nfunctions + 1, sizeof(*part->flat));
    for (uint32_t i = 0; i < model->nfunctions; i++)
        if (sums->total[i] > 0)
            part->rows[part->nrows++] =
                (struct jr_row){.function = i,
                                .self_ns = sums->self[i],
                                .total_ns = sums->total[i]};
    qsort_r(part->rows, part->nrows, sizeof(*part->rows), compare_rows, order);
    for (uint32_t i = 0; i < model->nfunctions; i++)
        sums->row[i] = NO_ROW;
    for (uint32_t i = 0; i < part->nrows; i++) {
        sums->row[part->rows[i].function] = i;
        if (part->rows[i].self_ns > 0)
            part->flat[part->nflat++] = i;
    }
    qsort_r(part->flat, part->nflat, sizeof(*part->flat), compare_flat, order);
    part->nshown = part->nrows;
}

/* Gives every row its two slices of links, then fills them and puts the first
 * `most` in order. */
static void build_links(const struct jr_model *model, struct jr_part *part,
                        const struct sums *sums, size_t most)
{
    size_t at = 0;

    for (size_t i = 0; i < model->narcs; i++)
        if (sums->arc[i] > 0) {
            part->rows[sums->row[model->arcs[i].callee]].ncallers++;
            part->rows[sums->row[model->arcs[i].caller]].ncallees++;
            part->nlinks += 2;
        }
    part->links = jr_alloc(part->nlinks + 1, sizeof(*part->links));
    for (size_t i = 0; i < part->nrows; i++) {
        struct jr_row *row = &part->rows[i];

        row->callers = at;
        row->callees = at + row->ncallers;
        at = row->callees + row->ncallees;
        row->ncallers = row->ncallees = 0;
    }
    for (size_t i = 0; i < model->narcs; i++) {
        uint32_t up, down;

        if (sums->arc[i] == 0)
            continue;
        up = sums->row[model->arcs[i].caller];
        down = sums->row[model->arcs[i].callee];
        part->links[part->rows[down].callers + part->rows[down].ncallers++] =
            (struct jr_link){up, sums->arc[i]};
        part->links[part->rows[up].callees + part->rows[up].ncallees++] =
            (struct jr_link){down, sums->arc[i]};
    }
    for (size_t i = 0; i < part->nrows; i++) {
        const struct jr_row *row = &part->rows[i];

        order_links(part->links + row->callers, row->ncallers, most);
        order_links(part->links + row->callees, row->ncallees, most);
    }
}

void jr_part_build(const struct jr_model *model, const struct jr_scope_key *key,
                   struct jr_part *part)
{
    jr_part_build_for(model, key, JR_LINKS_ALL, part);
}

void jr_part_build_for(const struct jr_model *model,
                       const struct jr_scope_key *key, size_t links,
                       struct jr_part *part)
{
    struct order order = {.model = model, .part = part};
    uint64_t *weights = jr_part_weights(model, key);
    struct sums sums = {
        .self = jr_alloc(model->nfunctions + 1, sizeof(*sums.self)),
        .total = jr_alloc(model->nfunctions + 1, sizeof(*sums.total)),
        .arc = jr_alloc(model->narcs + 1, sizeof(*sums.arc)),
        .tier_self = jr_alloc(model->ntiers + 1, sizeof(*sums.tier_self)),
        .tier_total = jr_alloc(model->ntiers + 1, sizeof(*sums.tier_total)),
        .row = jr_alloc(model->nfunctions + 1, sizeof(*sums.row))};

    *part =
        (struct jr_part){.weight_ns = key->weight_ns, .samples = key->samples};
    sum_up(model, weights, &sums);
    build_rows(&order, part, &sums);
    build_links(model, part, &sums, links);
    jr_part_add_tiers(model, part, sums.tier_self, sums.tier_total);
    free(weights);
    free(sums.tier_self);
    free(sums.tier_total);
    free(sums.self);
    free(sums.total);
    free(sums.arc);
    free(sums.row);
}

void jr_part_free(struct jr_part *part)
{
    free(part->rows);
    free(part->flat);
    free(part->links);
    free(part->tiers);
    *part = (struct jr_part){0};
}
