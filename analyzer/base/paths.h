/* SPDX-License-Identifier: MIT
 *
 * A tree of paths: a node is a key below another node.  A node comes after its
 * parent and, mostly, right after it, so that going along a path is going
 * through memory.
 * Runs in: analyzer. */
#ifndef JR_PATHS_H
#define JR_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "index.h"

struct jr_path {
    uint32_t parent, key;
};

struct jr_path_links {
    uint32_t child;   /* the youngest one; 0: none */
    uint32_t sibling; /* the next older one; 0: none */
};

struct jr_paths {
    struct jr_path *items; /* [0] is the root, whose key is 0 */
    size_t count, room;
    struct jr_path_links *links; /* NULL once the tree is whole */
    size_t links_room;
    struct jr_index crowd; /* children of nodes that have many */
};

/* A tree that is its root. */
void jr_paths_init(struct jr_paths *paths);
void jr_paths_free(struct jr_paths *paths);

/* The node of `key` below `parent`; a new one is added at the end.  There must
 * be less than JR_NO_ITEM. */
uint32_t jr_paths_child(struct jr_paths *paths, uint32_t parent, uint32_t key);

/* The same where the parent has no child yet, without looking for one. */
uint32_t jr_paths_add(struct jr_paths *paths, uint32_t parent, uint32_t key);

/* The number of each node on a way through the tree that goes to all that is
 * below a node before it goes on beside it.  Not of a sealed tree.  An array
 * of paths->count that the caller frees. */
uint32_t *jr_paths_ranks(const struct jr_paths *paths);

/* Frees what only further calls of jr_paths_child need, and `links`. */
void jr_paths_seal(struct jr_paths *paths);

#endif
