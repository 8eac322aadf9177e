/* SPDX-License-Identifier: MIT
 *
 * Costs of places and calls, from the stacks of a profile.
 * Runs in: analyzer. */
#include "callgrind_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Costs that are held at once: 40 bytes each, and 8 to 16 to find them by. */
#define COSTS_MOST 600000U

void jr_costs_open(struct jr_costs *costs, const struct jr_model *model)
{
    const uint32_t contexts = 2 * (uint32_t)model->nfunctions;

    *costs = (struct jr_costs){.model = model,
                               .is_real = jr_export_is_real(model),
                               .contexts = contexts,
                               .most = COSTS_MOST};
    costs->roots = jr_alloc(contexts + 1ULL, sizeof(*costs->roots));
    costs->stamps = jr_alloc(contexts + 1ULL, sizeof(*costs->stamps));
    costs->of_nodes = jr_alloc(model->nodes.count, sizeof(*costs->of_nodes));
    for (uint32_t i = 1; i < model->nodes.count; i++)
        costs->of_nodes[i] = jr_node_function(model, i) * 2 +
                             !(model->first[i] & JR_FIRST_FUNCTION);
}

void jr_costs_close(struct jr_costs *costs)
{
    jr_index_free(&costs->by_call);
    free(costs->items);
    free(costs->roots);
    free(costs->of_nodes);
    free(costs->stamps);
}

static uint32_t hash_call(uint32_t context, uint32_t place, uint32_t callee)
{
    return jr_hash((uint64_t)place << 1 | (context & 1), callee);
}

/* A place has one function, so that it and the callee tell costs apart, but for
 * the second context of a function. */
static struct jr_cost *cost_of(struct jr_costs *costs, uint32_t context,
                               uint32_t place, uint32_t callee)
{
    const uint32_t hash = hash_call(context, place, callee);
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&costs->by_call, hash, &at)) != JR_NO_ITEM) {
        struct jr_cost *cost = &costs->items[found];

        if (cost->place == place && cost->callee == callee &&
            cost->context == context)
            return cost;
    }
    jr_index_add(&costs->by_call, hash, (uint32_t)costs->count);
    *JR_PUSH(costs->items, costs->count, costs->room) =
        (struct jr_cost){.context = context, .place = place, .callee = callee};
    return &costs->items[costs->count - 1];
}

static void add_to(struct jr_cost *cost, const struct jr_leaf *leaf, int is_cpu)
{
    if (is_cpu)
        cost->cpu_ns = jr_add(cost->cpu_ns, leaf->weight_ns);
    cost->weight_ns = jr_add(cost->weight_ns, leaf->weight_ns);
    cost->samples += leaf->samples;
}

static void add_leaf(struct jr_costs *costs, const struct jr_leaf *leaf,
                     uint32_t stamp)
{
    const struct jr_path *nodes = costs->model->nodes.items;
    const int is_cpu =
        !costs->is_real ||
        jr_export_is_cpu(costs->model->buckets[leaf->bucket].event);
    uint32_t callee = JR_NO_CALLEE;

    for (uint32_t node = leaf->node; node != 0; node = nodes[node].parent) {
        const uint32_t context = costs->of_nodes[node];

        if (costs->stamps[context] == stamp)
            continue;
        costs->stamps[context] = stamp;
        if (context >= costs->from && context < costs->to)
            add_to(cost_of(costs, context, nodes[node].key, callee), leaf,
                   is_cpu);
        callee = context;
    }
    if (callee != JR_NO_CALLEE && costs->from == 0)
        add_to(&costs->roots[callee], leaf, is_cpu);
}

/* Lets costs of the last contexts go, so that about `kept` stay: those of the
 * first context at least.  Returns 0 where all are of that one. */
static int narrow(struct jr_costs *costs, size_t kept)
{
    const size_t before = costs->count;
    uint32_t *counts = jr_alloc(costs->contexts + 1ULL, sizeof(*counts));
    uint32_t to = costs->from;
    size_t sum = 0, count = 0;

    for (size_t i = 0; i < costs->count; i++)
        counts[costs->items[i].context]++;
    while (to < costs->to && (sum == 0 || sum + counts[to] <= kept))
        sum += counts[to++];
    free(counts);
    costs->to = to;
    jr_index_free(&costs->by_call);
    for (size_t i = 0; i < costs->count; i++) {
        const struct jr_cost *cost = &costs->items[i];

        if (cost->context >= to)
            continue;
        jr_index_add(&costs->by_call,
                     hash_call(cost->context, cost->place, cost->callee),
                     (uint32_t)count);
        costs->items[count++] = *cost;
    }
    costs->count = count;
    return count < before;
}

static int compare_costs(const void *left, const void *right)
{
    const struct jr_cost *a = left, *b = right;

    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    /* Costs of its own come before those of calls. */
    if (a->callee != b->callee)
        return a->callee + 1 < b->callee + 1 ? -1 : 1;
    return 0;
}

/* Where there are too many costs after a part of the stacks, so many contexts
 * stay as would have seven eighths of the most after all of them, if further
 * ones bring new costs at the same rate. */
static void collect(struct jr_costs *costs)
{
    const size_t nleaves = costs->model->nleaves;
    size_t most = costs->most;

    costs->count = 0;
    memset(costs->stamps, 0, costs->contexts * sizeof(*costs->stamps));
    for (size_t i = 0; i < nleaves; i++) {
        add_leaf(costs, &costs->model->leaves[i], (uint32_t)i + 1);
        if (costs->count < most)
            continue;
        if (!narrow(costs, (size_t)((double)most * 7 / 8 * (double)(i + 1) /
                                    (double)nleaves)))
            most *= 2;
    }
    jr_index_free(&costs->by_call);
    if (costs->count > 0)
        qsort(costs->items, costs->count, sizeof(*costs->items), compare_costs);
}

int jr_costs_next(struct jr_costs *costs)
{
    if (costs->to >= costs->contexts)
        return 0;
    costs->from = costs->to;
    costs->to = costs->contexts;
    collect(costs);
    return 1;
}
