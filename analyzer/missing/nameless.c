/* SPDX-License-Identifier: MIT
 *
 * Sums up, once a stack, what each module leaves unnamed.
 * Runs in: analyzer. */
#include "nameless.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "package.h"

#define LISTED_PART 1000 /* of all weight */
#define ASKED_PART 100

static const struct jr_function *function_at(const struct jr_model *model,
                                             uint32_t node)
{
    return &model->functions[jr_node_function(model, node)];
}

/* By node: it or the next one towards the root that is unnamed; 0: none. */
static uint32_t *find_unnamed(const struct jr_model *model)
{
    uint32_t *unnamed = jr_alloc(model->nodes.count, sizeof *unnamed);

    for (uint32_t i = 1; i < model->nodes.count; i++)
        unnamed[i] = function_at(model, i)->kind == JR_FRAME_UNNAMED
                         ? i
                         : unnamed[model->nodes.items[i].parent];
    return unnamed;
}

struct counting {
    const struct jr_model *model;
    struct jr_nameless_list *list;
    struct jr_table by_module;
    size_t *last; /* by item of the list: the last leaf that counted there */
    size_t room;
};

static void count_module(struct counting *counting, const char *module,
                         size_t leaf)
{
    struct jr_nameless_list *list = counting->list;
    const uint32_t fresh = (uint32_t)list->count;
    const uint32_t at =
        jr_table_put(&counting->by_module, (uintptr_t)module, 0, fresh);
    size_t used = list->count;

    if (at == fresh) {
        *JR_PUSH(counting->last, used, counting->room) = SIZE_MAX;
        *JR_PUSH(list->items, list->count, list->room) =
            (struct jr_nameless){.module = module};
    }
    if (counting->last[at] == leaf)
        return;
    counting->last[at] = leaf;
    list->items[at].weight_ns = jr_add(list->items[at].weight_ns,
                                       counting->model->leaves[leaf].weight_ns);
}

static void count_leaves(const struct jr_model *model,
                         struct jr_nameless_list *list)
{
    struct counting counting = {.model = model, .list = list};
    uint32_t *unnamed = find_unnamed(model);

    for (size_t i = 0; i < model->nleaves; i++) {
        uint32_t node = unnamed[model->leaves[i].node];

        while (node != 0) {
            count_module(&counting, function_at(model, node)->module, i);
            node = unnamed[model->nodes.items[node].parent];
        }
    }
    jr_table_free(&counting.by_module);
    free(counting.last);
    free(unnamed);
}

static int heavier(const void *one, const void *other)
{
    const struct jr_nameless *a = one, *b = other;

    if (a->weight_ns != b->weight_ns)
        return a->weight_ns > b->weight_ns ? -1 : 1;
    return strcmp(a->module, b->module);
}

/* Whether a mapping's file has this name, alone or with the beginning of its
 * build-id behind it (symbol/elf/modules.h). */
static int is_named(const struct jr_mapping *mapping, const char *module)
{
    const char *slash = mapping->path ? strrchr(mapping->path, '/') : NULL;
    const size_t length = slash ? strlen(slash + 1) : 0;
    char id[2 * 4 + 1] = "";

    if (!slash || strstr(module, slash + 1) != module)
        return 0;
    if (module[length] == '\0')
        return 1;
    for (size_t i = 0; i < mapping->build_id_size && i < sizeof id / 2; i++)
        snprintf(id + 2 * i, sizeof id - 2 * i, "%02x", mapping->build_id[i]);
    return strncmp(module + length, " [", 2) == 0 &&
           strncmp(module + length + 2, id, strlen(id)) == 0;
}

/* The path of the first mapping whose file has this name. */
static const char *path_of(const struct jr_model *model, const char *module)
{
    for (size_t i = 0; i < model->nprocesses; i++) {
        const struct jr_map *map = model->processes[i].map;

        for (size_t j = 0; j < map->mappings.count; j++) {
            if (is_named(&map->mappings.items[j], module))
                return map->mappings.items[j].path;
        }
    }
    return NULL;
}

/* As they were where the archive was made: this may be another system. */
static void take_archived(const struct jr_symbols *symbols, const char **paths,
                          size_t count, char **packages)
{
    for (size_t i = 0; i < count; i++) {
        const char *package = jr_symbols_package(symbols, paths[i]);

        packages[i] = package ? jr_strdup(package) : NULL;
    }
}

static void ask_packages(const struct jr_model *model,
                         const struct jr_symbols *symbols,
                         struct jr_nameless_list *list)
{
    const char *paths[JR_NAMELESS_MOST];
    char *packages[JR_NAMELESS_MOST];
    size_t which[JR_NAMELESS_MOST], count = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].path &&
            list->items[i].weight_ns >= model->total.weight_ns / ASKED_PART) {
            which[count] = i;
            paths[count++] = list->items[i].path;
        }
    if (count == 0)
        return;
    if (symbols && jr_symbols_are_archived(symbols))
        take_archived(symbols, paths, count, packages);
    else
        jr_package_debug(paths, count, packages);
    for (size_t i = 0; i < count; i++)
        list->items[which[i]].package = packages[i];
}

void jr_nameless_find(const struct jr_model *model,
                      const struct jr_symbols *symbols,
                      struct jr_nameless_list *list)
{
    size_t kept = 0;

    *list = (struct jr_nameless_list){0};
    count_leaves(model, list);
    list->all = list->count;
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof *list->items, heavier);
    while (kept < list->count && kept < JR_NAMELESS_MOST &&
           list->items[kept].weight_ns > 0 &&
           list->items[kept].weight_ns >=
               model->total.weight_ns / LISTED_PART) {
        list->items[kept].path = path_of(model, list->items[kept].module);
        kept++;
    }
    list->count = kept;
    ask_packages(model, symbols, list);
}

void jr_nameless_free(struct jr_nameless_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].package);
    free(list->items);
    *list = (struct jr_nameless_list){0};
}
