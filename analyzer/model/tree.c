/* SPDX-License-Identifier: MIT
 *
 * Functions, arcs and the tree of call paths.
 * Runs in: analyzer. */
#include <string.h>

#include "../base/mem.h"
#include "model.h"

static uint8_t listed(const char *const *names, size_t count,
                      const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return 0;
}

uint32_t jr_tree_function(struct jr_model *model, const char *name,
                          const char *module, int kind)
{
    const struct jr_filter *filter = &model->filter;
    uint32_t fresh = (uint32_t)model->nfunctions;
    uint32_t id = jr_table_put(&model->by_name, (uintptr_t)name,
                               (uintptr_t)module, fresh);
    struct jr_function *function;

    if (id != fresh)
        return id;
    function = JR_PUSH(model->functions, model->nfunctions,
                       model->functions_room);
    *function = (struct jr_function){
        .name = name,
        .module = module,
        .kind = (uint8_t)kind,
        .included = listed(filter->include, filter->ninclude, name),
        .excluded = listed(filter->exclude, filter->nexclude, name)};
    return id;
}

static uint32_t arc_of(struct jr_model *model, uint32_t caller,
                       uint32_t callee)
{
    uint32_t fresh = (uint32_t)model->narcs;
    uint32_t id = jr_table_put(&model->by_arc, caller, callee, fresh);

    if (id == fresh)
        *JR_PUSH(model->arcs, model->narcs, model->arcs_room) =
            (struct jr_arc){.caller = caller, .callee = callee};
    return id;
}

/* The node below `parent`; marks its function and arc as seen on the stack
 * that is being inserted, whose number is model->stamp. */
static uint32_t step(struct jr_model *model, uint32_t parent,
                     uint32_t function)
{
    uint32_t fresh = (uint32_t)model->nnodes;
    uint32_t id = jr_table_put(&model->by_path, parent, function, fresh);
    struct jr_node *node;

    if (id == fresh) {
        uint32_t arc = JR_NO_ARC;

        if (parent != 0)
            arc = arc_of(model, model->nodes[parent].function, function);
        node = JR_PUSH(model->nodes, model->nnodes, model->nodes_room);
        *node = (struct jr_node){
            .parent = parent, .function = function, .arc = arc};
        node->first_function =
            model->functions[function].stamp != model->stamp;
        node->first_arc = arc != JR_NO_ARC &&
                          model->arcs[arc].stamp != model->stamp;
    }
    node = &model->nodes[id];
    model->functions[function].stamp = model->stamp;
    if (node->arc != JR_NO_ARC)
        model->arcs[node->arc].stamp = model->stamp;
    return id;
}

/* The stamp numbers the insertions; when it wraps, old stamps are wiped. */
static void next_stamp(struct jr_model *model)
{
    if (++model->stamp != 0)
        return;
    for (size_t i = 0; i < model->nfunctions; i++)
        model->functions[i].stamp = 0;
    for (size_t i = 0; i < model->narcs; i++)
        model->arcs[i].stamp = 0;
    model->stamp = 1;
}

uint32_t jr_tree_insert(struct jr_model *model, const uint32_t *path,
                        size_t length)
{
    uint32_t node = 0;

    next_stamp(model);
    while (length-- > 0)
        node = step(model, node, path[length]);
    return node;
}
