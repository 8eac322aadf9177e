/* SPDX-License-Identifier: MIT
 *
 * The parts of a report: which there are, and what their stacks weigh.
 * Runs in: analyzer. */
#include "scope.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "part.h"

/* The buckets of a part: returns the first, *end is behind the last. */
static size_t buckets_of(const struct jr_model *model,
                         const struct jr_scope_key *key, size_t *end)
{
    const struct jr_process *process;

    switch (key->scope) {
    case JR_SCOPE_PROCESS:
        process = &model->processes[key->process];
        *end = process->first_bucket + process->nbuckets;
        return process->first_bucket;
    case JR_SCOPE_THREAD:
        *end = (size_t)key->bucket + 1;
        return key->bucket;
    default:
        *end = model->nbuckets;
        return 0;
    }
}

const struct jr_leaf *jr_part_leaves(const struct jr_model *model,
                                     const struct jr_scope_key *key,
                                     size_t *count)
{
    size_t end, first = buckets_of(model, key, &end);
    const struct jr_bucket *last;

    *count = 0;
    if (first == end)
        return NULL;
    last = &model->buckets[end - 1];
    *count =
        last->first_leaf + last->nleaves - model->buckets[first].first_leaf;
    return model->leaves + model->buckets[first].first_leaf;
}

uint64_t *jr_part_weights(const struct jr_model *model,
                          const struct jr_scope_key *key)
{
    uint64_t *weights = jr_alloc(model->nodes.count, sizeof(*weights));
    size_t count;
    const struct jr_leaf *leaves = jr_part_leaves(model, key, &count);

    for (size_t i = 0; i < count; i++)
        weights[leaves[i].node] =
            jr_add(weights[leaves[i].node], leaves[i].weight_ns);
    return weights;
}

static int compare_keys(const void *left, const void *right)
{
    const struct jr_scope_key *a = left, *b = right;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->weight_ns != b->weight_ns)
        return a->weight_ns > b->weight_ns ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* A thread's line in the map: where it stands decides between several. */
struct named {
    uint32_t tid;
    size_t at;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left, *b = right;

    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* The last name of the thread, of the sorted ones; NULL: none. */
static const char *find_name(const struct jr_map *map,
                             const struct named *named, uint32_t tid)
{
    const size_t first = JR_FIRST_NOT(map->nthreads, i, named[i].tid <= tid);

    return first > 0 && named[first - 1].tid == tid
               ? map->threads[named[first - 1].at].name
               : NULL;
}

/* Names `count` threads of one process. */
static void name_threads(const struct jr_map *map, struct jr_scope_key *keys,
                         size_t count)
{
    struct named *named = jr_alloc(map->nthreads + 1, sizeof(*named));

    for (size_t i = 0; i < map->nthreads; i++)
        named[i] = (struct named){map->threads[i].tid, i};
    qsort(named, map->nthreads, sizeof(*named), compare_named);
    for (size_t i = 0; i < count; i++)
        keys[i].name = find_name(map, named, keys[i].tid);
    free(named);
}

void jr_part_name_threads(const struct jr_model *model,
                          struct jr_scope_key *keys, size_t count)
{
    size_t end;

    for (size_t i = 0; i < count; i = end) {
        for (end = i; end < count && keys[end].process == keys[i].process;)
            end++;
        name_threads(model->processes[keys[i].process].map, keys + i, end - i);
    }
}

void jr_part_buckets(const struct jr_model *model, struct jr_scope_key *keys)
{
    for (uint32_t i = 0; i < model->nbuckets; i++)
        keys[i] =
            (struct jr_scope_key){.scope = JR_SCOPE_THREAD,
                                  .process = model->buckets[i].process,
                                  .bucket = i,
                                  .tid = model->buckets[i].tid,
                                  .weight_ns = model->buckets[i].weight_ns,
                                  .samples = model->buckets[i].samples};
}

static size_t list_threads(const struct jr_model *model,
                           struct jr_scope_key *keys)
{
    jr_part_buckets(model, keys);
    qsort(keys, model->nbuckets, sizeof(*keys), compare_keys);
    jr_part_name_threads(model, keys, model->nbuckets);
    return model->nbuckets;
}

static size_t list_processes(const struct jr_model *model,
                             struct jr_scope_key *keys)
{
    for (uint32_t i = 0; i < model->nprocesses; i++)
        keys[i] = (struct jr_scope_key){
            .scope = JR_SCOPE_PROCESS,
            .process = i,
            .weight_ns = model->processes[i].stats.weight_ns,
            .samples = model->processes[i].stats.samples};
    return model->nprocesses;
}

struct jr_scope_key *jr_parts_list(const struct jr_model *model, size_t *count)
{
    size_t most = 1 + model->nprocesses + model->nbuckets, parts;
    struct jr_scope_key *keys = jr_alloc(most, sizeof(*keys));

    keys[0] = (struct jr_scope_key){.scope = JR_SCOPE_ALL,
                                    .weight_ns = model->total.weight_ns,
                                    .samples = model->total.samples};
    if (!model->filter.by_thread) {
        parts = list_processes(model, keys + 1);
        *count = parts > 1 ? 1 + parts : 1;
        return keys;
    }
    parts = list_threads(model, keys + 1);
    *count = parts > 1 ? 1 + parts : parts;
    if (parts == 1)
        keys[0] = keys[1];
    return keys;
}
