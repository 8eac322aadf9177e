/* SPDX-License-Identifier: MIT
 *
 * What tests of the coverage share: the tree's file as text, and processes.
 * Runs in: tests. */
#ifndef TEST_COVERED_H
#define TEST_COVERED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "model/cover/cover.h"
#include "model/cover/cover_image.h"
#include "model/cover/cover_sum.h"

#define MS 1000000ULL

/* The tree's file of a text. */
static inline void parse(const char *text, struct jr_tree *tree,
                         unsigned warnings)
{
    struct jr_diag diag = {0};
    size_t size = strlen(text);
    uint8_t *copy = malloc(size ? size : 1);

    memcpy(copy, text, size);
    *tree = (struct jr_tree){.path = jr_strdup("tree")};
    jr_tree_file_parse(copy, size, tree, &diag);
    free(copy);
    assert_int_equal(diag.warnings, warnings);
}

/* A process of the tree whose first one is `root`. */
static inline void add_below(struct jr_cover *cover, struct jr_tree *tree,
                             uint32_t root, struct jr_cover_image image)
{
    image.tree =
        jr_cover_tree(cover, tree, &(struct jr_tree_root){.pid = root}, 0);
    if (image.start_ticks == 0)
        image.start_ticks = 100 + image.pid;
    if (image.period_ns == 0)
        image.period_ns = 4 * MS;
    if (image.on_ns == 0)
        image.on_ns = image.cpu_ns - image.before_ns;
    jr_cover_add(cover, &image);
}

/* Process 1, the tree's first one, and further ones are added to it. */
static inline void add(struct jr_cover *cover, struct jr_tree *tree,
                       struct jr_cover_image image)
{
    add_below(cover, tree, 1, image);
}

#endif
