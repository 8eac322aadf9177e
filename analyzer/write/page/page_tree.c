/* SPDX-License-Identifier: MIT
 *
 * The tree of call paths in the page's order.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/tiers.h"
#include "page.h"

#define NONE UINT32_MAX

/* The model's tree with its paths of the same functions joined. */
struct joined {
    const struct jr_model *model;
    const uint32_t *same; /* by node: the first one of its path */
    uint32_t *child, *sibling;
    uint8_t *used; /* a stack ends here or below */
};

static uint32_t parent_of(const struct joined *joined, uint32_t node)
{
    return joined->same[joined->model->nodes.items[node].parent];
}

static void link_children(struct joined *joined)
{
    const struct jr_model *model = joined->model;
    const size_t count = model->nodes.count;

    for (size_t i = 0; i < model->nseen; i++)
        joined->used[joined->same[model->seen[i].node]] = 1;
    for (uint32_t node = (uint32_t)count - 1; node > 0; node--) {
        uint32_t parent = parent_of(joined, node);

        if (!joined->used[node] || joined->same[node] != node)
            continue;
        joined->used[parent] = 1;
        joined->sibling[node] = joined->child[parent];
        joined->child[parent] = node;
    }
}

static uint32_t number_of(struct jr_page_tree *tree, uint32_t function)
{
    if (tree->numbers[function] == 0) {
        tree->functions[tree->nfunctions++] = function;
        tree->numbers[function] = (uint32_t)tree->nfunctions;
    }
    return tree->numbers[function] - 1;
}

/* Goes along the tree in preorder without a stack. */
static void number_nodes(const struct joined *joined, struct jr_page_tree *tree)
{
    uint32_t at = 0;
    uint64_t up = 0;

    tree->nnodes = 1;
    for (;;) {
        uint32_t next = joined->child[at];

        while (next == NONE && at != 0) {
            next = joined->sibling[at];
            at = parent_of(joined, at);
            up++;
        }
        if (next == NONE)
            return;
        at = next;
        tree->nodes[at] = (uint32_t)tree->nnodes;
        tree->up[tree->nnodes] = up;
        tree->function[tree->nnodes++] =
            number_of(tree, jr_node_function(joined->model, at));
        up = 0;
    }
}

void jr_page_tree_build(const struct jr_model *model, struct jr_page_tree *tree)
{
    const size_t count = model->nodes.count;
    uint32_t *same = jr_part_same_paths(model);
    struct joined joined = {.model = model, .same = same};

    *tree = (struct jr_page_tree){0};
    joined.child = jr_alloc(count, sizeof(*joined.child));
    joined.sibling = jr_alloc(count, sizeof(*joined.sibling));
    joined.used = jr_alloc(count, 1);
    memset(joined.child, 0xff, count * sizeof(*joined.child));
    memset(joined.sibling, 0xff, count * sizeof(*joined.sibling));
    tree->up = jr_alloc(count, sizeof(*tree->up));
    tree->function = jr_alloc(count, sizeof(*tree->function));
    tree->nodes = jr_alloc(count, sizeof(*tree->nodes));
    tree->functions = jr_alloc(model->nfunctions + 1, sizeof(*tree->functions));
    tree->numbers = jr_alloc(model->nfunctions + 1, sizeof(*tree->numbers));
    link_children(&joined);
    number_nodes(&joined, tree);
    for (size_t node = 0; node < count; node++)
        tree->nodes[node] = tree->nodes[same[node]];
    free(joined.child);
    free(joined.sibling);
    free(joined.used);
    free(same);
}

void jr_page_tree_free(struct jr_page_tree *tree)
{
    free(tree->up);
    free(tree->function);
    free(tree->nodes);
    free(tree->functions);
    free(tree->numbers);
    *tree = (struct jr_page_tree){0};
}
