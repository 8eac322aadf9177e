/* SPDX-License-Identifier: MIT
 *
 * pprof profiles (google/pprof, proto/profile.proto): samples summed up by
 * stack, thread and event.  Numbers of fields are those of that file.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export.h"
#include "proto.h"
#include "write/facts.h"
#include "zip.h"

enum profile_field {
    SAMPLE_TYPE = 1,
    SAMPLE,
    MAPPING,
    LOCATION,
    FUNCTION,
    STRING,
    TIME_NANOS = 9,
    DURATION_NANOS,
    PERIOD_TYPE,
    PERIOD,
    COMMENT,
    DEFAULT_SAMPLE_TYPE
};

struct pprof {
    const struct jr_report *report;
    const struct jr_model *model;
    FILE *out;
    struct jr_proto message, inner;
    char **strings; /* as they are written: UTF-8 */
    size_t nstrings, strings_room;
    struct jr_index by_string;
    const char **files;  /* by function; NULL: not known */
    uint32_t *mappings;  /* by object: the id, 0: none */
    uint32_t *locations; /* by node: the id where a stack may enter it from a
                            call, 0: it does not */
    int is_real;
};

static uint32_t hash_text(const char *text)
{
    uint64_t hash = 0;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
    return jr_hash(hash, 0);
}

/* The index of a string in the profile's table. */
static uint64_t string_of(struct pprof *pprof, const char *text)
{
    char *copy = jr_export_clean(text);
    const uint32_t hash = hash_text(copy);
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
    return found;
}

static void put_strings(struct pprof *pprof)
{
    for (size_t i = 0; i < pprof->nstrings; i++) {
        struct jr_proto text = {.data = (uint8_t *)pprof->strings[i],
                                .size = strlen(pprof->strings[i])};

        jr_proto_write(&text, STRING, pprof->out);
        free(pprof->strings[i]);
    }
    free(pprof->strings);
    jr_index_free(&pprof->by_string);
}

static void put_number(struct pprof *pprof, unsigned field, uint64_t number)
{
    jr_proto_uint(&pprof->message, field, number);
    fwrite(pprof->message.data, 1, pprof->message.size, pprof->out);
    pprof->message.size = 0;
}

static void put_type(struct pprof *pprof, unsigned field, const char *type,
                     const char *unit)
{
    jr_proto_uint(&pprof->message, 1, string_of(pprof, type));
    jr_proto_uint(&pprof->message, 2, string_of(pprof, unit));
    jr_proto_write(&pprof->message, field, pprof->out);
}

static void put_head(struct pprof *pprof)
{
    const struct jr_model *model = pprof->model;
    const char *type = pprof->is_real ? "wall" : "cpu";
    size_t count;
    char **lines = jr_export_lines(pprof->report, &count);

    put_type(pprof, SAMPLE_TYPE, "samples", "count");
    put_type(pprof, SAMPLE_TYPE, "cpu", "nanoseconds");
    if (pprof->is_real)
        put_type(pprof, SAMPLE_TYPE, type, "nanoseconds");
    put_type(pprof, PERIOD_TYPE, type, "nanoseconds");
    put_number(pprof, PERIOD, model->period_ns);
    put_number(pprof, DEFAULT_SAMPLE_TYPE, string_of(pprof, type));
    put_number(pprof, TIME_NANOS, jr_export_start_ns(model));
    put_number(pprof, DURATION_NANOS, model->total.wall_ns);
    for (size_t i = 0; i < count; i++)
        put_number(pprof, COMMENT, string_of(pprof, lines[i]));
    jr_export_free_lines(lines, count);
}

static void put_build_id(struct pprof *pprof, const struct jr_mapping *mapping)
{
    char hex[2 * sizeof(mapping->build_id) + 1];

    if (mapping->build_id_size == 0)
        return;
    for (size_t i = 0; i < mapping->build_id_size; i++)
        snprintf(hex + 2 * i, 3, "%02x", mapping->build_id[i]);
    jr_proto_uint(&pprof->message, 6, string_of(pprof, hex));
}

/* has_functions keeps readers from looking for symbols themselves. */
static void put_mapping(struct pprof *pprof, uint32_t id, size_t index)
{
    const struct jr_object *object = &pprof->model->places.objects[index];
    struct jr_proto *message = &pprof->message;

    pprof->mappings[index] = id;
    jr_proto_uint(message, 1, id);
    jr_proto_uint(message, 2, object->start);
    jr_proto_uint(message, 3, object->end);
    jr_proto_uint(message, 4, object->offset);
    jr_proto_uint(message, 5, string_of(pprof, object->path));
    if (object->mapping)
        put_build_id(pprof, object->mapping);
    jr_proto_uint(message, 7, 1);
    jr_proto_uint(message, 8, 1);
    jr_proto_uint(message, 9, 1);
    jr_proto_uint(message, 10, 1);
    jr_proto_write(message, MAPPING, pprof->out);
}

/* The executable comes first: readers call the first one the main binary. */
static void put_mappings(struct pprof *pprof)
{
    const struct jr_places *places = &pprof->model->places;
    const char *exe = jr_exe_of(&pprof->model->processes[0]);
    uint32_t id = 0;

    pprof->mappings = jr_alloc(places->nobjects + 1, sizeof(uint32_t));
    for (size_t i = 0; i < places->nobjects && id == 0; i++)
        if (places->objects[i].mapping &&
            strcmp(places->objects[i].path, exe) == 0)
            put_mapping(pprof, ++id, i);
    for (size_t i = 0; i < places->nobjects; i++)
        if (pprof->mappings[i] == 0 && *places->objects[i].path)
            put_mapping(pprof, ++id, i);
}

/* Where a function has no raw name, its system name stays empty: pprof cuts
 * template arguments off a name that is the system name too. */
static void put_functions(struct pprof *pprof)
{
    const struct jr_model *model = pprof->model;

    for (size_t i = 0; i < model->nfunctions; i++) {
        const struct jr_function *function = &model->functions[i];
        char *name = jr_export_name(function);

        jr_proto_uint(&pprof->message, 1, i + 1);
        jr_proto_uint(&pprof->message, 2, string_of(pprof, name));
        if (function->raw)
            jr_proto_uint(&pprof->message, 3, string_of(pprof, function->raw));
        if (pprof->files[i])
            jr_proto_uint(&pprof->message, 4,
                          string_of(pprof, pprof->files[i]));
        jr_proto_write(&pprof->message, FUNCTION, pprof->out);
        free(name);
    }
}

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

static void put_location(struct pprof *pprof, uint32_t id, uint32_t node)
{
    const struct jr_model *model = pprof->model;
    const struct jr_place *place = place_of(model, node);

    jr_proto_uint(&pprof->message, 1, id);
    jr_proto_uint(&pprof->message, 2, pprof->mappings[place->object]);
    jr_proto_uint(&pprof->message, 3, jr_export_address(model, place));
    for (; node != 0; node = outer_of(model, node)) {
        place = place_of(model, node);
        jr_proto_uint(&pprof->inner, 1,
                      model->tiers[place->tier].function + 1ULL);
        jr_proto_uint(&pprof->inner, 2,
                      jr_export_line(model, place, pprof->files));
        jr_proto_message(&pprof->message, 4, &pprof->inner);
    }
    jr_proto_write(&pprof->message, LOCATION, pprof->out);
}

/* Marks the nodes where a location starts: leaves of stacks, and callers that
 * are more than what their callee was inlined into. */
static void mark_starts(const struct pprof *pprof)
{
    const struct jr_model *model = pprof->model;

    for (size_t i = 0; i < model->nleaves; i++)
        pprof->locations[model->leaves[i].node] = 1;
    for (uint32_t i = 1; i < model->nodes.count; i++)
        if (outer_of(model, i) == 0)
            pprof->locations[model->nodes.items[i].parent] = 1;
}

/* One location for all nodes of a place, unless functions into which it was
 * inlined differ. */
static void put_locations(struct pprof *pprof)
{
    const struct jr_model *model = pprof->model;
    uint32_t *chains = jr_alloc(model->nodes.count, sizeof(*chains));
    uint32_t *ids = NULL;
    size_t nids = 0, room = 0;
    struct jr_table table = {0};
    uint32_t given = 0;

    pprof->locations = jr_alloc(model->nodes.count, sizeof(uint32_t));
    mark_starts(pprof);
    pprof->locations[0] = 0;
    for (uint32_t i = 1; i < model->nodes.count; i++) {
        const uint32_t outer = outer_of(model, i);

        chains[i] =
            jr_table_put(&table, model->nodes.items[i].key,
                         outer ? chains[outer] + 1ULL : 0, (uint32_t)nids);
        if (chains[i] == nids)
            *JR_PUSH(ids, nids, room) = 0;
        if (!ids || pprof->locations[i] == 0)
            continue;
        if (ids[chains[i]] == 0) {
            ids[chains[i]] = ++given;
            put_location(pprof, given, i);
        }
        pprof->locations[i] = ids[chains[i]];
    }
    jr_table_free(&table);
    free(chains);
    free(ids);
}

/* A label: a text, or where that is NULL a number. */
static void add_label(struct pprof *pprof, struct jr_proto *labels,
                      const char *key, const char *text, uint64_t number)
{
    jr_proto_uint(&pprof->inner, 1, string_of(pprof, key));
    if (text)
        jr_proto_uint(&pprof->inner, 2, string_of(pprof, text));
    else
        jr_proto_uint(&pprof->inner, 3, number);
    jr_proto_message(labels, 3, &pprof->inner);
}

static void add_labels(struct pprof *pprof, struct jr_proto *labels,
                       const struct jr_scope_key *key, unsigned event)
{
    const struct jr_process *process = &pprof->model->processes[key->process];
    char *name = jr_process_name(process);

    labels->size = 0;
    add_label(pprof, labels, "thread",
              key->name && *key->name ? key->name : name, 0);
    add_label(pprof, labels, "event", jr_event_word(event), 0);
    add_label(pprof, labels, "tid", NULL, key->tid);
    add_label(pprof, labels, "pid", NULL, process->run->header.pid);
    add_label(pprof, labels, "process", name, 0);
    free(name);
}

static void put_sample(struct pprof *pprof, const struct jr_leaf *leaf,
                       unsigned event, const struct jr_proto *labels)
{
    const struct jr_model *model = pprof->model;
    struct jr_proto *inner = &pprof->inner, *message = &pprof->message;
    uint32_t node = leaf->node, outer;

    while (node != 0) {
        jr_proto_varint(inner, pprof->locations[node]);
        while ((outer = outer_of(model, node)) != 0)
            node = outer;
        node = model->nodes.items[node].parent;
    }
    jr_proto_message(message, 1, inner);
    jr_proto_varint(inner, leaf->samples);
    jr_proto_varint(inner, !pprof->is_real || jr_export_is_cpu(event)
                               ? leaf->weight_ns
                               : 0);
    if (pprof->is_real)
        jr_proto_varint(inner, leaf->weight_ns);
    jr_proto_message(message, 2, inner);
    jr_proto_append(message, labels);
    jr_proto_write(message, SAMPLE, pprof->out);
}

static int compare_leaves(const void *left, const void *right, void *data)
{
    const uint32_t *ranks = data;
    const uint32_t a = ranks[((const struct jr_leaf *)left)->node];
    const uint32_t b = ranks[((const struct jr_leaf *)right)->node];

    return a < b ? -1 : a > b;
}

/* The leaves of a bucket, those with the same callers beside each other: what
 * repeats is near then, and is compressed away.  The caller frees them. */
static struct jr_leaf *leaves_of(const struct pprof *pprof,
                                 const struct jr_bucket *bucket,
                                 uint32_t *ranks)
{
    struct jr_leaf *leaves = jr_alloc(bucket->nleaves + 1, sizeof(*leaves));

    if (bucket->nleaves > 0)
        memcpy(leaves, pprof->model->leaves + bucket->first_leaf,
               bucket->nleaves * sizeof(*leaves));
    qsort_r(leaves, bucket->nleaves, sizeof(*leaves), compare_leaves, ranks);
    return leaves;
}

static void put_samples(struct pprof *pprof)
{
    const struct jr_model *model = pprof->model;
    struct jr_scope_key *keys = jr_export_buckets(model);
    uint32_t *ranks = jr_paths_ranks(&model->nodes);
    struct jr_proto labels = {0};

    for (size_t i = 0; i < model->nbuckets; i++) {
        const struct jr_bucket *bucket = &model->buckets[i];
        struct jr_leaf *leaves = leaves_of(pprof, bucket, ranks);

        add_labels(pprof, &labels, &keys[i], bucket->event);
        for (size_t j = 0; j < bucket->nleaves; j++)
            put_sample(pprof, &leaves[j], bucket->event, &labels);
        free(leaves);
    }
    free(ranks);
    free(labels.data);
    free(keys);
}

void jr_write_pprof(const struct jr_report *report, FILE *out)
{
    struct pprof pprof = {.report = report,
                          .model = report->model,
                          .out = jr_zip_open(out),
                          .files = jr_export_files(report->model),
                          .is_real = jr_export_is_real(report->model)};

    (void)string_of(&pprof, "");
    put_head(&pprof);
    put_mappings(&pprof);
    put_functions(&pprof);
    put_locations(&pprof);
    put_samples(&pprof);
    put_strings(&pprof);
    (void)fclose(pprof.out);
    free(pprof.message.data);
    free(pprof.inner.data);
    free(pprof.files);
    free(pprof.mappings);
    free(pprof.locations);
}
