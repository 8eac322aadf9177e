/* SPDX-License-Identifier: MIT
 *
 * Children of a node: a list, and an index besides for those that are in long
 * ones.
 * Runs in: analyzer. */
#include "paths.h"

#include <stdlib.h>

#include "mem.h"

#define FEW 8 /* children that are looked at one by one */

void jr_paths_init(struct jr_paths *paths)
{
    *paths = (struct jr_paths){0};
    *JR_PUSH(paths->items, paths->count, paths->room) = (struct jr_path){0};
}

void jr_paths_free(struct jr_paths *paths)
{
    free(paths->items);
    jr_index_free(&paths->crowd);
    *paths = (struct jr_paths){0};
}

/* The node in the index, or JR_NO_ITEM. */
static uint32_t in_crowd(const struct jr_paths *paths, uint32_t parent,
                         uint32_t key)
{
    const uint32_t hash = jr_hash(parent, key);
    size_t at = hash;
    uint32_t node;

    while ((node = jr_index_next(&paths->crowd, hash, &at)) != JR_NO_ITEM)
        if (paths->items[node].parent == parent &&
            paths->items[node].key == key)
            break;
    return node;
}

static void join_crowd(struct jr_paths *paths, uint32_t parent, uint32_t key,
                       uint32_t node)
{
    jr_index_add(&paths->crowd, jr_hash(parent, key), node);
}

static uint32_t add_child(struct jr_paths *paths, uint32_t parent, uint32_t key)
{
    const uint32_t node = (uint32_t)paths->count;

    *JR_PUSH(paths->items, paths->count, paths->room) = (struct jr_path){
        .parent = parent, .key = key, .sibling = paths->items[parent].child};
    paths->items[parent].child = node;
    return node;
}

uint32_t jr_paths_child(struct jr_paths *paths, uint32_t parent, uint32_t key)
{
    uint32_t seen[FEW], count = 0, node = paths->items[parent].child;

    for (; node != 0 && count < FEW; node = paths->items[node].sibling) {
        if (paths->items[node].key == key)
            return node;
        seen[count++] = node;
    }
    if (count < FEW)
        return add_child(paths, parent, key);
    node = in_crowd(paths, parent, key);
    if (node != JR_NO_ITEM)
        return node;
    /* With the ninth child all of them go there. */
    if (in_crowd(paths, parent, paths->items[seen[0]].key) == JR_NO_ITEM) {
        for (uint32_t i = 0; i < FEW; i++)
            join_crowd(paths, parent, paths->items[seen[i]].key, seen[i]);
    }
    node = add_child(paths, parent, key);
    join_crowd(paths, parent, key, node);
    return node;
}
