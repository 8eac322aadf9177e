/* SPDX-License-Identifier: MIT
 *
 * What the stacks of a part weigh.
 * Runs in: analyzer. */
#include "part.h"

#include "base/mem.h"

static int covers(const struct jr_scope_key *key, const struct jr_model *model,
                  size_t bucket)
{
    switch (key->scope) {
    case JR_SCOPE_ALL:
        return 1;
    case JR_SCOPE_PROCESS:
        return model->buckets[bucket].process == key->process;
    case JR_SCOPE_THREAD:
        return bucket == key->bucket;
    }
    return 0;
}

uint64_t *jr_part_weights(const struct jr_model *model,
                          const struct jr_scope_key *key)
{
    uint64_t *weights = jr_alloc(model->nodes.count, sizeof(*weights));

    for (size_t i = 0; i < model->nbuckets; i++) {
        const struct jr_bucket *bucket = &model->buckets[i];
        const struct jr_leaf *leaf = model->leaves + bucket->first_leaf;

        if (!covers(key, model, i))
            continue;
        for (size_t j = 0; j < bucket->nleaves; j++)
            weights[leaf[j].node] =
                jr_add(weights[leaf[j].node], leaf[j].weight_ns);
    }
    return weights;
}
