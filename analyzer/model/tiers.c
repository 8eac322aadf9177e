/* SPDX-License-Identifier: MIT
 *
 * Functions that a runtime compiled more than once: what they weigh in each
 * tier, and the paths that are one when tiers do not count.
 * Runs in: analyzer. */
#include "tiers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int heavier(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

struct order {
    const struct jr_model *model;
};

static int compare_tiers(const void *left, const void *right, void *data)
{
    const struct jr_part_tier *a = left, *b = right;
    const struct jr_model *model = ((const struct order *)data)->model;
    const char *x = model->tiers[a->tier].word;
    const char *y = model->tiers[b->tier].word;
    int by = heavier(a->self_ns, b->self_ns);

    if (by == 0)
        by = heavier(a->total_ns, b->total_ns);
    return by ? by : strcmp(x ? x : "", y ? y : "");
}

void jr_part_sort_tiers(const struct jr_model *model,
                        struct jr_part_tier *tiers, size_t count)
{
    struct order order = {model};

    if (count > 1)
        qsort_r(tiers, count, sizeof(*tiers), compare_tiers, &order);
}

/* Rows by function, for those that have a tier with a word. */
static struct jr_row **rows_with_words(const struct jr_model *model,
                                       struct jr_part *part)
{
    struct jr_row **rows = jr_alloc(model->nfunctions + 1, sizeof(*rows));
    uint8_t *has_word = jr_alloc(model->nfunctions + 1, 1);

    for (size_t i = 0; i < model->ntiers; i++)
        has_word[model->tiers[i].function] |= model->tiers[i].word != NULL;
    for (size_t i = 0; i < part->nrows; i++)
        if (has_word[part->rows[i].function])
            rows[part->rows[i].function] = &part->rows[i];
    free(has_word);
    return rows;
}

void jr_part_add_tiers(const struct jr_model *model, struct jr_part *part,
                       const uint64_t *self, const uint64_t *total)
{
    struct jr_row **rows = rows_with_words(model, part);
    size_t at = 0;

    for (size_t i = 0; i < model->ntiers; i++)
        if (rows[model->tiers[i].function] && total[i] > 0) {
            rows[model->tiers[i].function]->ntiers++;
            part->ntiers++;
        }
    part->tiers = jr_alloc(part->ntiers + 1, sizeof(*part->tiers));
    for (size_t i = 0; i < part->nrows; i++) {
        part->rows[i].tiers = at;
        at += part->rows[i].ntiers;
        part->rows[i].ntiers = 0;
    }
    for (uint32_t i = 0; i < model->ntiers; i++) {
        struct jr_row *row = rows[model->tiers[i].function];

        if (row && total[i] > 0)
            part->tiers[row->tiers + row->ntiers++] =
                (struct jr_part_tier){i, self[i], total[i]};
    }
    for (size_t i = 0; i < part->nrows; i++)
        jr_part_sort_tiers(model, part->tiers + part->rows[i].tiers,
                           part->rows[i].ntiers);
    free(rows);
}

/* By function: whether nodes of several keys are of it. */
static uint8_t *find_many(const struct jr_model *model)
{
    uint8_t *many = jr_alloc(model->nfunctions + 1, 1);
    uint32_t *keys = jr_alloc(model->nfunctions + 1, sizeof(*keys));

    for (size_t i = 1; i < model->nodes.count; i++) {
        const uint32_t function = jr_node_function(model, i);
        const uint32_t key = model->nodes.items[i].key + 1;

        many[function] |= keys[function] != 0 && keys[function] != key;
        keys[function] = key;
    }
    free(keys);
    return many;
}

/* The first node of the same functions, which may be `node` itself. */
static uint32_t find_same(const struct jr_model *model, const uint32_t *same,
                          struct jr_index *known, uint32_t node)
{
    const uint32_t parent = same[model->nodes.items[node].parent];
    const uint32_t function = jr_node_function(model, node);
    const uint32_t hash = jr_hash(parent, function);
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(known, hash, &at)) != JR_NO_ITEM)
        if (same[model->nodes.items[found].parent] == parent &&
            jr_node_function(model, found) == function)
            return found;
    jr_index_add(known, hash, node);
    return node;
}

/* Two nodes can be the same only where their function has several keys, or
 * below such ones: the others are not looked for. */
uint32_t *jr_part_same_paths(const struct jr_model *model)
{
    uint32_t *same = jr_alloc(model->nodes.count, sizeof(*same));
    uint8_t *many = find_many(model);
    uint8_t *compared = jr_alloc(model->nodes.count, 1);
    struct jr_index known = {0};

    for (uint32_t i = 1; i < model->nodes.count; i++) {
        compared[i] = compared[model->nodes.items[i].parent] ||
                      many[jr_node_function(model, i)];
        same[i] = compared[i] ? find_same(model, same, &known, i) : i;
    }
    jr_index_free(&known);
    free(compared);
    free(many);
    return same;
}

static int compare_sums(const void *left, const void *right)
{
    const struct jr_tier_sum *a = left, *b = right;
    int by = heavier(a->self_ns, b->self_ns);

    return by ? by : strcmp(a->word, b->word);
}

struct jr_tier_sum *jr_part_tier_sums(const struct jr_model *model,
                                      size_t *count)
{
    uint64_t *self = jr_alloc(model->ntiers + 1, sizeof(*self));
    struct jr_tier_sum *sums = NULL;
    struct jr_table words = {0};
    size_t room = 0;

    *count = 0;
    for (size_t i = 0; i < model->nleaves; i++) {
        uint32_t tier = jr_node_tier(model, model->leaves[i].node);

        self[tier] = jr_add(self[tier], model->leaves[i].weight_ns);
    }
    for (size_t i = 0; i < model->ntiers; i++) {
        const char *word = model->tiers[i].word;
        uint32_t at;

        if (!word || self[i] == 0 ||
            model->functions[model->tiers[i].function].kind == JR_FRAME_NATIVE)
            continue;
        at = jr_table_put(&words, (uintptr_t)word, 0, (uint32_t)*count);
        if (at == *count)
            *JR_PUSH(sums, *count, room) = (struct jr_tier_sum){.word = word};
        if (!sums)
            continue;
        sums[at].self_ns = jr_add(sums[at].self_ns, self[i]);
        sums[at].functions++;
    }
    if (*count > 0)
        qsort(sums, *count, sizeof(*sums), compare_sums);
    jr_table_free(&words);
    free(self);
    return sums;
}
