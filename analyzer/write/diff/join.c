/* SPDX-License-Identifier: MIT
 *
 * Finds the functions of two profiles that are one.
 * Runs in: analyzer. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/index.h"
#include "base/mem.h"
#include "diff.h"
#include "write/figures.h"

#define NONE UINT32_MAX
#define BOTH (1U << JR_AFTER | 1U << JR_BEFORE)

/* Functions with one key. */
struct group {
    char *key;
    uint32_t function; /* that stands for them; rather one that AFTER has */
    uint8_t sides;     /* bits 1 << enum jr_side: who has them */
    uint32_t other;    /* the group it was joined with; NONE: none */
    uint32_t rivals[JR_SIDES]; /* of loose groups: how many of one side, */
    uint32_t last[JR_SIDES];   /* and the last of them */
};

struct groups {
    struct group *items;
    size_t count, room;
    struct jr_index by_key;
};

struct joining {
    struct jr_model *model;
    uint8_t *sides;             /* by function */
    const char *exes[JR_SIDES]; /* base names of the programs; "" */
    struct groups exact;
    uint32_t *group_of; /* by function, of exact */
};

static void free_groups(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        free(groups->items[i].key);
    free(groups->items);
    jr_index_free(&groups->by_key);
}

/* The group of the key, which it takes over. */
static uint32_t group_of(struct groups *groups, char *key)
{
    const uint32_t hash = jr_hash_text(key, strlen(key));
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&groups->by_key, hash, &at)) != JR_NO_ITEM)
        if (groups->items && strcmp(groups->items[found].key, key) == 0) {
            free(key);
            return found;
        }
    found = (uint32_t)groups->count;
    jr_index_add(&groups->by_key, hash, found);
    *JR_PUSH(groups->items, groups->count, groups->room) =
        (struct group){.key = key, .function = NONE, .other = NONE};
    return found;
}

/* Which sides have which functions: each node is marked once a side, with all
 * above it. */
static void find_sides(struct joining *joining)
{
    const struct jr_model *model = joining->model;
    const struct jr_path *nodes = model->nodes.items;
    uint8_t *seen = jr_alloc(model->nodes.count, 1);

    for (size_t i = 0; i < model->nleaves; i++) {
        const struct jr_bucket *bucket =
            &model->buckets[model->leaves[i].bucket];
        const uint8_t bit =
            (uint8_t)(1U << model->processes[bucket->process].side);

        for (uint32_t at = model->leaves[i].node; at != 0 && !(seen[at] & bit);
             at = nodes[at].parent) {
            seen[at] |= bit;
            joining->sides[jr_node_function(model, at)] |= bit;
        }
    }
    free(seen);
}

/* The programs of the sides: what the first process of each ran. */
static void find_exes(struct joining *joining)
{
    const struct jr_model *model = joining->model;

    for (size_t side = 0; side < JR_SIDES; side++)
        joining->exes[side] = "";
    for (size_t i = model->nprocesses; i-- > 0;)
        joining->exes[model->processes[i].side] =
            jr_base_name(jr_exe_of(&model->processes[i]));
}

/* What tells the function's module. */
static const char *module_of(const struct joining *joining,
                             const struct jr_function *function)
{
    const char *module = jr_base_name(function->module);

    for (size_t side = 0; side < JR_SIDES; side++)
        if (*module && strcmp(module, joining->exes[side]) == 0)
            return "\1";
    return module;
}

/* As a build gives to the copy of a function, or a compiler of Rust to each:
 * where that begins in the name. */
static size_t without_clone(const char *name)
{
    static const char *const marks[] = {".constprop.", ".isra.", ".part.",
                                        ".cold",       ".llvm.", ".lto_priv.",
                                        " [clone ."};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        const char *found = strstr(name, marks[i]);

        if (found && found > name && (size_t)(found - name) < length)
            length = (size_t)(found - name);
    }
    if (length > 19 && memcmp(name + length - 19, "::h", 3) == 0 &&
        strspn(name + length - 16, "0123456789abcdef") >= 16)
        length -= 19;
    return length;
}

/* Without ":12:5" or ":12" at the end. */
static size_t without_line(const char *place, size_t length)
{
    for (int i = 0; i < 2; i++) {
        size_t at = length;

        while (at > 0 && isdigit((unsigned char)place[at - 1]))
            at--;
        if (at == length || at < 2 || place[at - 1] != ':')
            break;
        length = at - 1;
    }
    return length;
}

/* What still tells functions of one name apart, less and less.  Of native code
 * there is but the first. */
enum looseness { WITHOUT_FOLDER, WITHOUT_LINE, WITHOUT_FILE, LOOSEST };

/* A JIT function's name without what another folder or an edit changes:
 * "f (/x/app.js:12:5)" and "f /x/app.js:12:5" become "f app.js:12:5", "f
 * app.js" or "f"; without its file a function that has no name is told by its
 * line.  NULL: nothing tells it.  The caller frees it. */
static char *jit_name(const char *name, enum looseness looseness)
{
    size_t length = strlen(name), head, whole;
    const char *place, *slash;

    if (length > 0 && name[length - 1] == ')') {
        for (head = length; head > 0; head--)
            if (strncmp(name + head - 1, " (", 2) == 0)
                break;
        place = name + (head > 0 ? head + 1 : 0);
        length -= head > 0;
    } else {
        slash = memrchr(name, '/', length);
        place = slash ? memrchr(name, ' ', (size_t)(slash - name)) : NULL;
        head = place ? (size_t)(place - name) + 1 : 0;
        place = name + head;
    }
    whole = length - (size_t)(place - name);
    length = without_line(place, whole);
    if (looseness == WITHOUT_FILE && head >= 2)
        return strncmp(name, "(anonymous)", 11) == 0
                   ? jr_printf("%.*s%.*s", (int)head, name,
                               (int)(whole - length), place + length)
                   : jr_strndup(name, head);
    if (looseness == WITHOUT_FILE)
        return NULL;
    slash = memrchr(place, '/', length);
    if (looseness == WITHOUT_FOLDER)
        length = whole;
    if (slash) {
        length -= (size_t)(slash + 1 - place);
        place = slash + 1;
    }
    return jr_printf("%.*s%.*s", (int)head, name, (int)length, place);
}

static char *exact_key(const struct joining *joining,
                       const struct jr_function *function)
{
    if (function->kind == JR_FRAME_UNNAMED)
        return jr_printf("\2%s", module_of(joining, function));
    return jr_printf("%s\1%s\1%s", function->name, module_of(joining, function),
                     function->tier ? function->tier : "");
}

/* NULL: there is no such key. */
static char *loose_key(const struct joining *joining,
                       const struct jr_function *function,
                       enum looseness looseness)
{
    char *name = NULL, *key;

    if (function->kind == JR_FRAME_JIT)
        name = jit_name(function->name, looseness);
    else if (looseness == WITHOUT_FOLDER)
        name = jr_strndup(function->name, without_clone(function->name));
    if (name == NULL)
        return NULL;
    key = jr_printf("%s\1%s\1%s", name, module_of(joining, function),
                    function->tier ? function->tier : "");
    free(name);
    return key;
}

static void make_groups(struct joining *joining)
{
    const struct jr_model *model = joining->model;

    for (uint32_t i = 0; i < model->nfunctions; i++) {
        struct group *group;

        joining->group_of[i] = NONE;
        if (joining->sides[i] == 0)
            continue;
        joining->group_of[i] =
            group_of(&joining->exact, exact_key(joining, &model->functions[i]));
        group = &joining->exact.items[joining->group_of[i]];
        if (group->function == NONE ||
            (!(joining->sides[group->function] & 1U << JR_AFTER) &&
             (joining->sides[i] & 1U << JR_AFTER)) ||
            (model->functions[group->function].inlined &&
             !model->functions[i].inlined &&
             joining->sides[group->function] <= joining->sides[i]))
            group->function = i;
        group->sides |= joining->sides[i];
    }
}

/* Joins groups of one side each that are the only ones with a loose name. */
static void join_loosely(struct joining *joining, enum looseness looseness)
{
    struct groups *exact = &joining->exact, loose = {0};

    for (uint32_t i = 0; i < exact->count; i++) {
        struct group *group = &exact->items[i], *of;
        const unsigned side =
            group->sides == 1U << JR_BEFORE ? JR_BEFORE : JR_AFTER;
        char *key;
        uint32_t at;

        if (group->sides == BOTH || group->key[0] == '\2' ||
            (key =
                 loose_key(joining, &joining->model->functions[group->function],
                           looseness)) == NULL)
            continue;
        at = group_of(&loose, key);
        of = &loose.items[at];
        of->rivals[side]++;
        of->last[side] = i;
    }
    for (size_t i = 0; i < loose.count; i++) {
        const struct group *of = &loose.items[i];

        if (of->rivals[JR_BEFORE] != 1 || of->rivals[JR_AFTER] != 1)
            continue;
        exact->items[of->last[JR_BEFORE]].other = of->last[JR_AFTER];
        /* Neither is looked for again. */
        exact->items[of->last[JR_BEFORE]].sides = BOTH;
        exact->items[of->last[JR_AFTER]].sides = BOTH;
    }
    free_groups(&loose);
}

/* Code without symbols is named after its module alone. */
static void name_unnamed(struct jr_model *model, uint32_t function)
{
    struct jr_function *of = &model->functions[function];

    if (of->kind != JR_FRAME_UNNAMED)
        return;
    of->name = *JR_PUSH(model->made_names, model->nmade_names,
                        model->made_names_room) =
        jr_printf("%s+(no symbol)", jr_base_name(of->module));
}

void jr_diff_join(struct jr_model *model)
{
    struct joining joining = {.model = model};

    joining.sides = jr_alloc(model->nfunctions + 1, 1);
    joining.group_of =
        jr_alloc(model->nfunctions + 1, sizeof(*joining.group_of));
    find_exes(&joining);
    find_sides(&joining);
    make_groups(&joining);
    for (int looseness = 0; looseness < LOOSEST; looseness++)
        join_loosely(&joining, (enum looseness)looseness);
    for (size_t i = 0; i < joining.exact.count; i++)
        name_unnamed(model, joining.exact.items[i].function);
    for (size_t i = 0; i < model->ntiers; i++) {
        const uint32_t group = joining.group_of[model->tiers[i].function];
        const struct group *of;

        if (joining.exact.items == NULL || group == NONE)
            continue;
        of = &joining.exact.items[group];
        if (of->other != NONE)
            of = &joining.exact.items[of->other];
        model->tiers[i].function = of->function;
    }
    free_groups(&joining.exact);
    free(joining.group_of);
    free(joining.sides);
}
