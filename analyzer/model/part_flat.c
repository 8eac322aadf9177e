/* SPDX-License-Identifier: MIT
 *
 * The flat profile of a part from its leaves alone, and what a long part
 * leaves out.
 * Runs in: analyzer. */
#include "part_flat.h"

#include <stdlib.h>

#include "base/mem.h"
#include "part_build.h"
#include "tiers.h"

/* A part with more functions than MANY does not list those below 1/LIGHT of
 * it. */
#define MANY 5000
#define LIGHT 10000

/* What a function weighs in one of its tiers at one leaf. */
struct piece {
    uint32_t function, tier;
    uint64_t weight_ns;
};

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->tier < b->tier ? -1 : a->tier > b->tier;
}

/* The leaves of the part as pieces, in order; *count of them. */
static struct piece *gather(const struct jr_model *model,
                            const struct jr_scope_key *key, size_t *count)
{
    const struct jr_leaf *leaves = jr_part_leaves(model, key, count);
    struct piece *pieces = jr_alloc(*count + 1, sizeof(*pieces));

    for (size_t i = 0; i < *count; i++) {
        const uint32_t tier = jr_node_tier(model, leaves[i].node);

        pieces[i] = (struct piece){model->tiers[tier].function, tier,
                                   leaves[i].weight_ns};
    }
    qsort(pieces, *count, sizeof(*pieces), compare_pieces);
    return pieces;
}

/* Adds a row of so many pieces of one function, and its tiers if one has a
 * word. */
static void add_row(const struct jr_model *model, struct jr_part *part,
                    const struct piece *pieces, size_t count)
{
    struct jr_row row = {.function = pieces->function, .tiers = part->ntiers};
    struct jr_part_tier *tier = NULL;
    int has_word = 0;

    for (size_t i = 0; i < count; i++) {
        if (tier == NULL || tier->tier != pieces[i].tier) {
            tier = &part->tiers[row.tiers + row.ntiers++];
            *tier = (struct jr_part_tier){.tier = pieces[i].tier};
            has_word |= model->tiers[tier->tier].word != NULL;
        }
        tier->self_ns = jr_add(tier->self_ns, pieces[i].weight_ns);
        row.self_ns = jr_add(row.self_ns, pieces[i].weight_ns);
    }
    if (row.self_ns == 0)
        return;
    if (!has_word)
        row.ntiers = 0;
    part->ntiers += row.ntiers;
    part->rows[part->nrows++] = row;
}

static int compare_rows(const void *left, const void *right, void *data)
{
    const struct jr_row *a = left, *b = right;

    if (a->self_ns != b->self_ns)
        return a->self_ns > b->self_ns ? -1 : 1;
    return jr_part_compare_functions(data, a->function, b->function);
}

void jr_part_build_flat(const struct jr_model *model,
                        const struct jr_scope_key *key, uint64_t most,
                        struct jr_part *part)
{
    size_t count, end;
    struct piece *pieces = gather(model, key, &count);

    *part =
        (struct jr_part){.weight_ns = key->weight_ns, .samples = key->samples};
    part->rows = jr_alloc(count + 1, sizeof(*part->rows));
    part->flat = jr_alloc(count + 1, sizeof(*part->flat));
    part->tiers = jr_alloc(count + 1, sizeof(*part->tiers));
    for (size_t i = 0; i < count; i = end) {
        for (end = i;
             end < count && pieces[end].function == pieces[i].function;)
            end++;
        add_row(model, part, pieces + i, end - i);
    }
    free(pieces);
    qsort_r(part->rows, part->nrows, sizeof(*part->rows), compare_rows,
            (void *)model);
    for (size_t i = 0; i < part->nrows; i++)
        jr_part_sort_tiers(model, part->tiers + part->rows[i].tiers,
                           part->rows[i].ntiers);
    for (; part->nflat < part->nrows; part->nflat++)
        part->flat[part->nflat] = (uint32_t)part->nflat;
    part->nshown = most < part->nrows ? (size_t)most : part->nrows;
}

void jr_part_cut(struct jr_part *part)
{
    if (part->nrows <= MANY)
        return;
    part->least_ns = part->weight_ns / LIGHT;
    while (part->nshown > 0 &&
           part->rows[part->nshown - 1].total_ns < part->least_ns)
        part->nshown--;
}

int jr_part_lists(const struct jr_part *part, const struct jr_row *row,
                  const struct jr_link *link)
{
    return link->row < part->nshown && (link->weight_ns >= part->least_ns ||
                                        link == part->links + row->callers);
}

struct jr_rest jr_part_rest(const struct jr_part *part, int flat)
{
    struct jr_rest rest = {0};

    for (size_t i = part->nshown; i < part->nrows; i++) {
        const struct jr_row *row = &part->rows[i];

        if (flat && row->self_ns == 0)
            continue;
        rest.count++;
        rest.self_ns = jr_add(rest.self_ns, row->self_ns);
        if (row->total_ns > rest.most_ns)
            rest.most_ns = row->total_ns;
    }
    return rest;
}
