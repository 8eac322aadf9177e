/* SPDX-License-Identifier: MIT
 *
 * Pprof profiles for servers: samples summed up by stack alone, CPU time and
 * real time in messages of their own, each within the limits that servers
 * have.  The launcher reads them (launcher/push/parts.c).
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "write/export/export.h"
#include "jp_push.h"
#include "pprof.h"
#include "write/figures.h"
#include "write/export/zip.h"

/* What the samples that end at a node stand for. */
struct sum {
    uint64_t samples, weight_ns;
};

/* A kind of message. */
struct kind {
    const char *type;
    unsigned events; /* bits 1 << enum jp_event that count */
};

struct pushing {
    struct jr_pprof tables;
    const struct jr_report *report;
    const struct jr_model *model;
    FILE *out;
    struct jr_proto numbers; /* scratch */
    struct sum *sums;        /* by node */
    uint32_t *nodes;         /* with a sum, those with equal callers beside each
                                other */
    size_t nnodes;
    uint64_t start_ns; /* CLOCK_REALTIME */
    size_t messages;
};

/* When the time that is reported began, CLOCK_REALTIME; 0: not known. */
static uint64_t find_start(const struct jr_model *model)
{
    uint64_t least = 0;

    for (size_t i = 0; i < model->nprocesses; i++) {
        const struct jr_process *process = &model->processes[i];
        const uint64_t begin_ns = jr_export_begin_ns(process);
        uint64_t real_ns = jr_export_real_ns(process);

        if (real_ns == 0)
            continue;
        if (process->span.from_ns > begin_ns)
            real_ns = jr_add(real_ns, process->span.from_ns - begin_ns);
        if (least == 0 || real_ns < least)
            least = real_ns;
    }
    return least;
}

static void sum_up(struct pushing *pushing, const struct kind *kind)
{
    const struct jr_model *model = pushing->model;

    memset(pushing->sums, 0, model->nodes.count * sizeof(*pushing->sums));
    for (size_t i = 0; i < model->nleaves; i++) {
        const struct jr_leaf *leaf = &model->leaves[i];
        struct sum *sum = &pushing->sums[leaf->node];

        if ((kind->events >> model->buckets[leaf->bucket].event & 1) == 0)
            continue;
        sum->samples = jr_add(sum->samples, leaf->samples);
        sum->weight_ns = jr_add(sum->weight_ns, leaf->weight_ns);
    }
}

static int compare_nodes(const void *left, const void *right, void *data)
{
    const uint32_t *ranks = data;
    const uint32_t a = ranks[*(const uint32_t *)left];
    const uint32_t b = ranks[*(const uint32_t *)right];

    return (a > b) - (a < b);
}

/* Node 0, the empty stack, comes as any other. */
static void list_nodes(struct pushing *pushing, uint32_t *ranks)
{
    pushing->nnodes = 0;
    for (uint32_t i = 0; i < pushing->model->nodes.count; i++)
        if (pushing->sums[i].samples > 0)
            pushing->nodes[pushing->nnodes++] = i;
    qsort_r(pushing->nodes, pushing->nnodes, sizeof(*pushing->nodes),
            compare_nodes, ranks);
}

static void begin(struct pushing *pushing, const struct kind *kind)
{
    struct jr_pprof *pprof = &pushing->tables;
    size_t count;
    char **lines = jr_export_lines(pushing->report, &count);

    jr_pprof_begin(pprof);
    jr_pprof_put_type(pprof, JR_PPROF_SAMPLE_TYPE, "samples", "count");
    jr_pprof_put_type(pprof, JR_PPROF_SAMPLE_TYPE, kind->type, "nanoseconds");
    jr_pprof_put_type(pprof, JR_PPROF_PERIOD_TYPE, kind->type, "nanoseconds");
    jr_pprof_put_number(pprof, JR_PPROF_PERIOD, pushing->model->period_ns);
    jr_pprof_put_number(pprof, JR_PPROF_TIME_NANOS, pushing->start_ns);
    jr_pprof_put_number(pprof, JR_PPROF_DURATION_NANOS,
                        pushing->model->total.wall_ns);
    for (size_t i = 0; i < count; i++)
        jr_pprof_put_number(pprof, JR_PPROF_COMMENT,
                            jr_pprof_string(pprof, lines[i]));
    jr_export_free_lines(lines, count);
}

/* Adds the stack of a node, at most `depth` of its frames, the leaf first. */
static void add_sample(struct pushing *pushing, uint32_t node, size_t depth)
{
    struct jr_pprof *pprof = &pushing->tables;
    const struct sum *sum = &pushing->sums[node];

    for (uint32_t at = node; at != 0 && depth-- > 0;
         at = jr_pprof_caller(pprof, at))
        jr_proto_varint(&pushing->numbers, jr_pprof_location(pprof, at));
    jr_proto_message(&pprof->message, 1, &pushing->numbers);
    jr_proto_varint(&pushing->numbers, sum->samples);
    jr_proto_varint(&pushing->numbers, sum->weight_ns);
    jr_proto_message(&pprof->message, 2, &pushing->numbers);
    jr_pprof_put(pprof, JR_PPROF_SAMPLE);
}

/* Adds samples from nodes[from] on, one at least and `most` at most; returns
 * how many fit. */
static size_t fill(struct pushing *pushing, const struct kind *kind,
                   size_t from, size_t most)
{
    size_t depth = JP_PUSH_DEPTH, count = 0;

    begin(pushing, kind);
    while (count < most && from + count < pushing->nnodes) {
        add_sample(pushing, pushing->nodes[from + count], depth);
        if (pushing->tables.body.size <= JP_PUSH_BYTES || depth == 0) {
            count++;
        } else if (count > 0) {
            break;
        } else { /* frames with endless names */
            depth /= 2;
            begin(pushing, kind);
        }
    }
    return count;
}

static char *zipped(const struct jr_proto *body, size_t *size)
{
    char *bytes = NULL;
    FILE *memory = open_memstream(&bytes, size), *zip;

    if (memory == NULL)
        jr_no_memory();
    zip = jr_zip_open(memory, JR_ZIPPED_PROTO);
    fwrite(body->data, 1, body->size, zip);
    (void)fclose(zip);
    if (fclose(memory) != 0)
        jr_no_memory();
    return bytes;
}

/* Writes what is filled: a line about it, then its bytes. */
static void put_message(struct pushing *pushing, const struct kind *kind,
                        size_t from, size_t count)
{
    uint64_t samples = 0, weight_ns = 0;
    const uint64_t wall_ns = pushing->model->total.wall_ns;
    size_t size;
    char *bytes = zipped(&pushing->tables.body, &size);

    for (size_t i = from; i < from + count; i++) {
        const struct sum *sum = &pushing->sums[pushing->nodes[i]];

        samples = jr_add(samples, sum->samples);
        weight_ns = jr_add(weight_ns, sum->weight_ns);
    }
    fprintf(pushing->out,
            JP_PUSH_MESSAGE " %s %" PRIu64 " %" PRIu64 " %zu %" PRIu64
                            " %" PRIu64 " %zu\n",
            kind->type, pushing->start_ns, jr_add(pushing->start_ns, wall_ns),
            count, samples, weight_ns, size);
    fwrite(bytes, 1, size, pushing->out);
    pushing->messages++;
    free(bytes);
}

static void put_kind(struct pushing *pushing, const struct kind *kind,
                     uint32_t *ranks)
{
    size_t from = 0;

    sum_up(pushing, kind);
    list_nodes(pushing, ranks);
    while (from < pushing->nnodes) {
        size_t count = fill(pushing, kind, from, JP_PUSH_STACKS);

        /* The last one did not fit and is in there: once more without. */
        if (pushing->tables.body.size > JP_PUSH_BYTES)
            count = fill(pushing, kind, from, count);
        put_message(pushing, kind, from, count);
        from += count;
    }
}

void jr_write_push(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    const int is_real = jr_export_is_real(model);
    const struct kind kinds[] = {
        {"cpu",
         is_real ? 1U << JP_EVENT_WALL_RUNNING | 1U << JP_EVENT_CPU : ~0U},
        {"wall", is_real ? ~0U : 0}};
    struct pushing pushing = {.report = report,
                              .model = model,
                              .out = out,
                              .start_ns = find_start(model)};
    uint32_t *ranks = jr_paths_ranks(&model->nodes);
    char *program = jr_export_clean(jr_base_name(report->app));

    pushing.sums = jr_alloc(model->nodes.count, sizeof(*pushing.sums));
    pushing.nodes = jr_alloc(model->nodes.count, sizeof(*pushing.nodes));
    jr_pprof_init(&pushing.tables, model, NULL);
    fprintf(out, JP_PUSH_PROGRAM " %s\n", program);
    if (model->total.kept_ns < model->total.wall_ns)
        fprintf(out, JP_PUSH_CUT " %" PRIu64 "\n",
                model->total.wall_ns - model->total.kept_ns);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        put_kind(&pushing, &kinds[i], ranks);
    fprintf(out, JP_PUSH_END " %zu\n", pushing.messages);
    jr_pprof_free(&pushing.tables);
    free(pushing.numbers.data);
    free(pushing.sums);
    free(pushing.nodes);
    free(program);
    free(ranks);
}
