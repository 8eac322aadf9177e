/* SPDX-License-Identifier: MIT
 *
 * Strings, mappings, functions and locations of a pprof profile
 * (google/pprof, proto/profile.proto).  Numbers of fields are those of that
 * file.
 * Runs in: analyzer. */
#include "pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "write/export/export.h"
#include "write/figures.h"

#define BODY 65536 /* bytes that wait for the stream */

static const struct jr_place *place_of(const struct jr_model *model,
                                       uint32_t node)
{
    return &model->places.items[model->nodes.items[node].key];
}

/* The node of the function into which that of `node` was inlined; 0: none. */
static uint32_t outer_of(const struct jr_model *model, uint32_t node)
{
    return place_of(model, node)->inlined ? model->nodes.items[node].parent : 0;
}

uint32_t jr_pprof_caller(const struct jr_pprof *pprof, uint32_t node)
{
    const struct jr_model *model = pprof->model;
    uint32_t outer;

    while ((outer = outer_of(model, node)) != 0)
        node = outer;
    return model->nodes.items[node].parent;
}

/* Nodes of one place have one location, unless functions into which it was
 * inlined differ. */
static void find_chains(struct jr_pprof *pprof)
{
    const struct jr_model *model = pprof->model;
    struct jr_table table = {0};

    pprof->chains = jr_alloc(model->nodes.count, sizeof(*pprof->chains));
    for (uint32_t i = 1; i < model->nodes.count; i++) {
        const uint32_t outer = outer_of(model, i);

        pprof->chains[i] = jr_table_put(&table, model->nodes.items[i].key,
                                        outer ? pprof->chains[outer] + 1ULL : 0,
                                        (uint32_t)pprof->nchains);
        if (pprof->chains[i] == pprof->nchains)
            pprof->nchains++;
    }
    jr_table_free(&table);
}

void jr_pprof_init(struct jr_pprof *pprof, const struct jr_model *model,
                   FILE *out)
{
    *pprof = (struct jr_pprof){
        .model = model, .out = out, .files = jr_export_files(model)};
    find_chains(pprof);
    pprof->functions =
        jr_alloc(model->nfunctions + 1, sizeof(*pprof->functions));
    pprof->mappings =
        jr_alloc(model->places.nobjects + 1, sizeof(*pprof->mappings));
    pprof->locations = jr_alloc(pprof->nchains + 1, sizeof(*pprof->locations));
}

static void free_strings(struct jr_pprof *pprof)
{
    for (size_t i = 0; i < pprof->nstrings; i++)
        free(pprof->strings[i]);
    free(pprof->strings);
    jr_index_free(&pprof->by_string);
    pprof->strings = NULL;
    pprof->nstrings = pprof->strings_room = 0;
}

void jr_pprof_free(struct jr_pprof *pprof)
{
    free_strings(pprof);
    free(pprof->body.data);
    free(pprof->message.data);
    free(pprof->inner.data);
    free(pprof->line.data);
    free(pprof->files);
    free(pprof->functions);
    free(pprof->mappings);
    free(pprof->locations);
    free(pprof->chains);
    free(pprof->late_locations);
    free(pprof->late_functions);
}

static void append(struct jr_pprof *pprof, unsigned field,
                   struct jr_proto *message)
{
    jr_proto_message(&pprof->body, field, message);
    if (!pprof->out || pprof->body.size < BODY)
        return;
    fwrite(pprof->body.data, 1, pprof->body.size, pprof->out);
    pprof->body.size = 0;
}

void jr_pprof_put(struct jr_pprof *pprof, unsigned field)
{
    append(pprof, field, &pprof->message);
}

void jr_pprof_put_number(struct jr_pprof *pprof, unsigned field,
                         uint64_t number)
{
    jr_proto_uint(&pprof->body, field, number);
}

void jr_pprof_put_type(struct jr_pprof *pprof, unsigned field, const char *type,
                       const char *unit)
{
    const uint64_t of_type = jr_pprof_string(pprof, type);

    jr_proto_uint(&pprof->message, 1, of_type);
    jr_proto_uint(&pprof->message, 2, jr_pprof_string(pprof, unit));
    jr_pprof_put(pprof, field);
}

static void put_string(struct jr_pprof *pprof, size_t index)
{
    char *text = pprof->strings[index];
    struct jr_proto bytes = {.data = (uint8_t *)text, .size = strlen(text)};

    append(pprof, JR_PPROF_STRING, &bytes);
}

uint64_t jr_pprof_string(struct jr_pprof *pprof, const char *text)
{
    char *copy = jr_export_clean(text);
    const uint32_t hash = jr_hash_text(copy, strlen(copy));
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&pprof->by_string, hash, &at)) !=
               JR_NO_ITEM &&
           pprof->strings) {
        if (strcmp(pprof->strings[found], copy) == 0) {
            free(copy);
            return found;
        }
    }
    found = (uint32_t)pprof->nstrings;
    jr_index_add(&pprof->by_string, hash, found);
    *JR_PUSH(pprof->strings, pprof->nstrings, pprof->strings_room) = copy;
    if (!pprof->out)
        put_string(pprof, found);
    return found;
}

static void add_build_id(struct jr_pprof *pprof, struct jr_proto *message,
                         const struct jr_mapping *mapping)
{
    char hex[2 * sizeof(mapping->build_id) + 1];

    if (mapping->build_id_size == 0)
        return;
    for (size_t i = 0; i < mapping->build_id_size; i++)
        snprintf(hex + 2 * i, 3, "%02x", mapping->build_id[i]);
    jr_proto_uint(message, 6, jr_pprof_string(pprof, hex));
}

/* The id of an object's mapping; 0: it has none.  has_functions keeps readers
 * from looking for symbols themselves. */
static uint32_t mapping_of(struct jr_pprof *pprof, size_t index)
{
    const struct jr_object *object = &pprof->model->places.objects[index];
    struct jr_proto *message = &pprof->inner;

    if (pprof->mappings[index] != 0 || *object->path == '\0')
        return pprof->mappings[index];
    pprof->mappings[index] = ++pprof->last_mapping;
    jr_proto_uint(message, 1, pprof->last_mapping);
    jr_proto_uint(message, 2, object->start);
    jr_proto_uint(message, 3, object->end);
    jr_proto_uint(message, 4, object->offset);
    jr_proto_uint(message, 5, jr_pprof_string(pprof, object->path));
    if (object->mapping)
        add_build_id(pprof, message, object->mapping);
    jr_proto_uint(message, 7, 1);
    jr_proto_uint(message, 8, 1);
    jr_proto_uint(message, 9, 1);
    jr_proto_uint(message, 10, 1);
    append(pprof, JR_PPROF_MAPPING, message);
    return pprof->mappings[index];
}

/* Where a function has no raw name, its system name stays empty: pprof cuts
 * template arguments off a name that is the system name too. */
static void put_function(struct jr_pprof *pprof, uint32_t index)
{
    const struct jr_function *function = &pprof->model->functions[index];
    struct jr_proto *message = &pprof->inner;
    char *name = jr_export_name(function);

    jr_proto_uint(message, 1, pprof->functions[index]);
    jr_proto_uint(message, 2, jr_pprof_string(pprof, name));
    if (function->raw)
        jr_proto_uint(message, 3, jr_pprof_string(pprof, function->raw));
    if (pprof->files[index])
        jr_proto_uint(message, 4, jr_pprof_string(pprof, pprof->files[index]));
    jr_proto_uint(message, 5, function->first_line);
    append(pprof, JR_PPROF_FUNCTION, message);
    free(name);
}

static uint32_t function_of(struct jr_pprof *pprof, uint32_t index)
{
    if (pprof->functions[index] != 0)
        return pprof->functions[index];
    pprof->functions[index] = ++pprof->last_function;
    if (pprof->out)
        *JR_PUSH(pprof->late_functions, pprof->nlate_functions,
                 pprof->late_functions_room) = index;
    else
        put_function(pprof, index);
    return pprof->functions[index];
}

/* The lines of a location, in `line`. */
static void add_lines(struct jr_pprof *pprof, uint32_t node)
{
    const struct jr_model *model = pprof->model;
    struct jr_proto one = {0};

    pprof->line.size = 0;
    for (; node != 0; node = outer_of(model, node)) {
        const struct jr_place *place = place_of(model, node);

        jr_proto_uint(&one, 1,
                      function_of(pprof, model->tiers[place->tier].function));
        jr_proto_uint(&one, 2, jr_export_line(model, place, pprof->files));
        jr_proto_message(&pprof->line, 4, &one);
    }
    free(one.data);
}

static void put_location(struct jr_pprof *pprof, uint32_t node)
{
    const struct jr_place *place = place_of(pprof->model, node);
    const uint32_t mapping = mapping_of(pprof, place->object);

    add_lines(pprof, node);
    jr_proto_uint(&pprof->inner, 1, pprof->locations[pprof->chains[node]]);
    jr_proto_uint(&pprof->inner, 2, mapping);
    jr_proto_uint(&pprof->inner, 3, jr_export_address(pprof->model, place));
    jr_proto_append(&pprof->inner, &pprof->line);
    append(pprof, JR_PPROF_LOCATION, &pprof->inner);
}

uint32_t jr_pprof_location(struct jr_pprof *pprof, uint32_t node)
{
    uint32_t *id = &pprof->locations[pprof->chains[node]];

    if (*id != 0)
        return *id;
    *id = ++pprof->last_location;
    put_location(pprof, node);
    return *id;
}

void jr_pprof_end(struct jr_pprof *pprof)
{
    for (size_t i = 0; i < pprof->nlate_locations; i++)
        put_location(pprof, pprof->late_locations[i]);
    for (size_t i = 0; i < pprof->nlate_functions; i++)
        put_function(pprof, pprof->late_functions[i]);
    for (size_t i = 0; i < pprof->nstrings; i++)
        put_string(pprof, i);
    fwrite(pprof->body.data, 1, pprof->body.size, pprof->out);
}

/* The executable comes first: readers call the first one the main binary. */
static void put_executable(struct jr_pprof *pprof)
{
    const struct jr_places *places = &pprof->model->places;
    const char *exe = jr_exe_of(&pprof->model->processes[0]);

    for (size_t i = 0; i < places->nobjects; i++)
        if (places->objects[i].mapping &&
            strcmp(places->objects[i].path, exe) == 0) {
            (void)mapping_of(pprof, i);
            return;
        }
}

/* By node: whether a stack of the profile goes through it. */
static uint8_t *find_used(const struct jr_model *model)
{
    uint8_t *used = jr_alloc(model->nodes.count, 1);

    for (size_t i = 0; i < model->nleaves; i++)
        for (uint32_t at = model->leaves[i].node; at != 0 && !used[at];
             at = model->nodes.items[at].parent)
            used[at] = 1;
    return used;
}

/* Numbers the locations in the order of their addresses: of what is beside each
 * other there, functions, lines and names are alike and compress well. */
static void number_locations(struct jr_pprof *pprof)
{
    const struct jr_model *model = pprof->model;
    uint8_t *used = find_used(model);
    struct jr_ordered *order = jr_alloc(pprof->nchains + 1, sizeof(*order));
    size_t count = 0;

    for (uint32_t i = 1; i < model->nodes.count; i++) {
        uint32_t *id = &pprof->locations[pprof->chains[i]];

        if (*id != 0 || !used[i])
            continue;
        *id = 1;
        order[count++] = (struct jr_ordered){
            jr_export_address(model, place_of(model, i)), i};
    }
    jr_order(order, count);
    for (size_t i = 0; i < count; i++) {
        pprof->locations[pprof->chains[order[i].index]] =
            ++pprof->last_location;
        *JR_PUSH(pprof->late_locations, pprof->nlate_locations,
                 pprof->late_locations_room) = (uint32_t)order[i].index;
    }
    free(order);
    free(used);
}

static void empty(uint32_t *ids, size_t count)
{
    memset(ids, 0, count * sizeof(*ids));
}

void jr_pprof_begin(struct jr_pprof *pprof)
{
    if (pprof->nstrings > 0) {
        free_strings(pprof);
        pprof->body.size = 0;
        empty(pprof->functions, pprof->model->nfunctions);
        empty(pprof->mappings, pprof->model->places.nobjects);
        empty(pprof->locations, pprof->nchains);
        pprof->last_function = pprof->last_mapping = pprof->last_location = 0;
    }
    (void)jr_pprof_string(pprof, "");
    put_executable(pprof);
    if (pprof->out)
        number_locations(pprof);
}
