/* SPDX-License-Identifier: MIT
 *
 * pprof profiles (google/pprof, proto/profile.proto): samples summed up by
 * stack, thread and event.  Numbers of fields are those of that file.
 * Runs in: analyzer. */
#include "pprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "model/scope.h"
#include "model/words.h"
#include "write/export/export.h"
#include "write/facts.h"
#include "write/who.h"
#include "write/export/zip.h"

/* The profile that is written. */
struct writing {
    struct jr_pprof tables;
    const struct jr_report *report;
    const struct jr_model *model;
    struct jr_hosts hosts;
    struct jr_proto labels, label, ids; /* scratch */
    int is_real;
};

static void put_head(struct writing *writing)
{
    struct jr_pprof *pprof = &writing->tables;
    const struct jr_model *model = writing->model;
    const char *type = writing->is_real ? "wall" : "cpu";
    size_t count;
    char **lines = jr_export_lines(writing->report, &count);

    jr_pprof_put_type(pprof, JR_PPROF_SAMPLE_TYPE, "samples", "count");
    jr_pprof_put_type(pprof, JR_PPROF_SAMPLE_TYPE, "cpu", "nanoseconds");
    if (writing->is_real)
        jr_pprof_put_type(pprof, JR_PPROF_SAMPLE_TYPE, type, "nanoseconds");
    jr_pprof_put_type(pprof, JR_PPROF_PERIOD_TYPE, type, "nanoseconds");
    jr_pprof_put_number(pprof, JR_PPROF_PERIOD, model->period_ns);
    jr_pprof_put_number(pprof, JR_PPROF_DEFAULT_SAMPLE_TYPE,
                        jr_pprof_string(pprof, type));
    jr_pprof_put_number(pprof, JR_PPROF_TIME_NANOS, jr_export_start_ns(model));
    jr_pprof_put_number(pprof, JR_PPROF_DURATION_NANOS, model->total.wall_ns);
    for (size_t i = 0; i < count; i++)
        jr_pprof_put_number(pprof, JR_PPROF_COMMENT,
                            jr_pprof_string(pprof, lines[i]));
    jr_export_free_lines(lines, count);
}

/* Adds a label: a text, or where that is NULL a number. */
static void add_label(struct writing *writing, const char *key,
                      const char *text, uint64_t number)
{
    struct jr_pprof *pprof = &writing->tables;

    jr_proto_uint(&writing->label, 1, jr_pprof_string(pprof, key));
    if (text)
        jr_proto_uint(&writing->label, 2, jr_pprof_string(pprof, text));
    else
        jr_proto_uint(&writing->label, 3, number);
    jr_proto_message(&writing->labels, 3, &writing->label);
}

static void set_labels(struct writing *writing, const struct jr_scope_key *key,
                       unsigned event)
{
    const struct jr_process *process = &writing->model->processes[key->process];
    const char *host = jr_hosts_name(&writing->hosts, key->process);
    char *name = jr_process_name(process);

    writing->labels.size = 0;
    add_label(writing, "thread", key->name && *key->name ? key->name : name, 0);
    add_label(writing, "event", jr_event_word(event), 0);
    add_label(writing, "tid", NULL, key->tid);
    add_label(writing, "pid", NULL, process->run->header.pid);
    add_label(writing, "process", name, 0);
    if (host)
        add_label(writing, "host", host, 0);
    free(name);
}

static void put_sample(struct writing *writing, const struct jr_leaf *leaf,
                       const struct jr_proto *labels, unsigned event)
{
    struct jr_pprof *pprof = &writing->tables;
    struct jr_proto *message = &pprof->message, *ids = &writing->ids;

    for (uint32_t at = leaf->node; at != 0; at = jr_pprof_caller(pprof, at))
        jr_proto_varint(ids, jr_pprof_location(pprof, at));
    jr_proto_message(message, 1, ids);
    jr_proto_varint(ids, leaf->samples);
    jr_proto_varint(ids, !writing->is_real || jr_export_is_cpu(event)
                             ? leaf->weight_ns
                             : 0);
    if (writing->is_real)
        jr_proto_varint(ids, leaf->weight_ns);
    jr_proto_message(message, 2, ids);
    jr_proto_append(message, labels);
    jr_pprof_put(pprof, JR_PPROF_SAMPLE);
}

/* The leaves of all buckets, those with the same callers beside each other
 * whoever's they are: what repeats is near then, and is compressed away.  The
 * caller frees them. */
static struct jr_ordered *order_leaves(const struct jr_model *model)
{
    uint32_t *ranks = jr_paths_ranks(&model->nodes);
    struct jr_ordered *leaves = jr_alloc(model->nleaves + 1, sizeof(*leaves));

    for (size_t i = 0; i < model->nleaves; i++)
        leaves[i] = (struct jr_ordered){ranks[model->leaves[i].node], i};
    free(ranks);
    jr_order(leaves, model->nleaves);
    return leaves;
}

/* The bucket of each leaf; the caller frees them. */
static uint32_t *buckets_of_leaves(const struct jr_model *model)
{
    uint32_t *buckets = jr_alloc(model->nleaves + 1, sizeof(*buckets));

    for (size_t i = 0; i < model->nbuckets; i++)
        for (size_t j = 0; j < model->buckets[i].nleaves; j++)
            buckets[model->buckets[i].first_leaf + j] = (uint32_t)i;
    return buckets;
}

/* The labels of each bucket; the caller frees them and their data. */
static struct jr_proto *labels_of_buckets(struct writing *writing)
{
    const struct jr_model *model = writing->model;
    struct jr_scope_key *keys = jr_export_buckets(model);
    struct jr_proto *labels = jr_alloc(model->nbuckets + 1, sizeof(*labels));

    for (size_t i = 0; i < model->nbuckets; i++) {
        set_labels(writing, &keys[i], model->buckets[i].event);
        jr_proto_append(&labels[i], &writing->labels);
    }
    free(keys);
    return labels;
}

static void put_samples(struct writing *writing)
{
    const struct jr_model *model = writing->model;
    struct jr_proto *labels = labels_of_buckets(writing);
    uint32_t *buckets = buckets_of_leaves(model);
    struct jr_ordered *leaves = order_leaves(model);

    for (size_t i = 0; i < model->nleaves; i++) {
        const struct jr_leaf *leaf = &model->leaves[leaves[i].index];
        const uint32_t bucket = buckets[leaves[i].index];

        put_sample(writing, leaf, &labels[bucket],
                   model->buckets[bucket].event);
    }
    for (size_t i = 0; i < model->nbuckets; i++)
        free(labels[i].data);
    free(leaves);
    free(buckets);
    free(labels);
}

void jr_write_pprof(const struct jr_report *report, FILE *out)
{
    struct writing writing = {.report = report,
                              .model = report->model,
                              .is_real = jr_export_is_real(report->model)};
    FILE *zipped = jr_zip_open(out, JR_ZIPPED_PROTO);

    jr_hosts_find(report->model, &writing.hosts);
    jr_pprof_init(&writing.tables, report->model, zipped);
    jr_pprof_begin(&writing.tables);
    put_head(&writing);
    put_samples(&writing);
    jr_pprof_end(&writing.tables);
    (void)fclose(zipped);
    jr_pprof_free(&writing.tables);
    jr_hosts_free(&writing.hosts);
    free(writing.labels.data);
    free(writing.label.data);
    free(writing.ids.data);
}
