/* SPDX-License-Identifier: MIT
 *
 * Children of a node: a list, and an index besides for those that are in long
 * ones.
 * Runs in: analyzer. */
#include "paths.h"

#include <stdlib.h>

#include "mem.h"

/* Children that are looked at one by one: each is two misses of the cache. */
#define FEW 2

void jr_paths_init(struct jr_paths *paths)
{
    *paths = (struct jr_paths){0};
    *JR_PUSH(paths->items, paths->count, paths->room) = (struct jr_path){0};
    paths->links =
        jr_grow(paths->links, 0, &paths->links_room, sizeof *paths->links);
    paths->links[0] = (struct jr_path_links){0};
}

void jr_paths_seal(struct jr_paths *paths)
{
    free(paths->links);
    paths->links = NULL;
    paths->links_room = 0;
    jr_index_free(&paths->crowd);
}

void jr_paths_free(struct jr_paths *paths)
{
    jr_paths_seal(paths);
    free(paths->items);
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

uint32_t jr_paths_add(struct jr_paths *paths, uint32_t parent, uint32_t key)
{
    const uint32_t node = (uint32_t)paths->count;

    paths->links =
        jr_grow(paths->links, node, &paths->links_room, sizeof *paths->links);
    paths->links[node] = (struct jr_path_links){0, paths->links[parent].child};
    paths->links[parent].child = node;
    *JR_PUSH(paths->items, paths->count, paths->room) =
        (struct jr_path){parent, key};
    return node;
}

uint32_t jr_paths_child(struct jr_paths *paths, uint32_t parent, uint32_t key)
{
    uint32_t seen[FEW], count = 0, node = paths->links[parent].child;

    for (; node != 0 && count < FEW; node = paths->links[node].sibling) {
        if (paths->items[node].key == key)
            return node;
        seen[count++] = node;
    }
    if (count < FEW)
        return jr_paths_add(paths, parent, key);
    node = in_crowd(paths, parent, key);
    if (node != JR_NO_ITEM)
        return node;
    /* The index takes all children of a node when it has more than FEW. */
    if (in_crowd(paths, parent, paths->items[seen[0]].key) == JR_NO_ITEM) {
        for (uint32_t i = 0; i < FEW; i++)
            join_crowd(paths, parent, paths->items[seen[i]].key, seen[i]);
    }
    node = jr_paths_add(paths, parent, key);
    join_crowd(paths, parent, key, node);
    return node;
}

uint32_t *jr_paths_ranks(const struct jr_paths *paths)
{
    uint32_t *ranks = jr_alloc(paths->count, sizeof(*ranks));
    uint32_t at = paths->links[0].child, next = 1;

    while (at != 0) {
        ranks[at] = next++;
        if (paths->links[at].child != 0) {
            at = paths->links[at].child;
            continue;
        }
        while (at != 0 && paths->links[at].sibling == 0)
            at = paths->items[at].parent;
        if (at != 0)
            at = paths->links[at].sibling;
    }
    return ranks;
}
