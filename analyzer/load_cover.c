/* SPDX-License-Identifier: MIT
 *
 * Hands the processes of a report, and what the tree's file says of others, to
 * the coverage.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "load.h"

/* The tree's file of a run, read once; NULL when there is none. */
static const struct jr_tree *tree_of(struct jr_load *load,
                                     const struct jr_log *log,
                                     const struct jr_run *run)
{
    char *path = jr_file_beside(log->path, run->header.tree_name);
    struct jr_tree *tree = NULL;

    for (size_t i = 0; path && i < load->ntrees && !tree; i++)
        if (strcmp(load->trees[i]->path, path) == 0)
            tree = load->trees[i];
    if (path && !tree) {
        tree = jr_alloc(1, sizeof(*tree));
        jr_tree_file_read(path, tree, load->diag);
        *JR_PUSH(load->trees, load->ntrees, load->trees_room) = tree;
    }
    free(path);
    return tree;
}

void jr_load_cover(struct jr_load *load, const struct jr_log *log,
                   const struct jr_run *run, const struct jr_map *map)
{
    struct jr_cover_image image;

    jr_cover_image(run, map, &image);
    image.tree = jr_cover_tree(&load->cover, tree_of(load, log, run),
                               run->header.root_pid, map->boot);
    image.command =
        map->cmdline && map->cmdline[0] ? map->cmdline : run->header.exe;
    jr_cover_add(&load->cover, &image);
}

void jr_load_free_cover(struct jr_load *load)
{
    jr_cover_free(&load->cover);
    for (size_t i = 0; i < load->ntrees; i++) {
        jr_tree_file_free(load->trees[i]);
        free(load->trees[i]);
    }
    free(load->trees);
}
