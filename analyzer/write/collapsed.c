/* SPDX-License-Identifier: MIT
 *
 * Collapsed stacks, `root;child;leaf N`, for flame graphs, and the lines for
 * the Cleo tool, which have the same content in another form.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "escape.h"
#include "facts.h"
#include "report.h"

/* The functions from the root down to a node. */
struct path {
    uint32_t *functions; /* leaf first */
    size_t count, room;
};

static void climb(const struct jr_model *model, uint32_t node,
                  struct path *path)
{
    path->count = 0;
    for (; node != 0; node = model->nodes.items[node].parent)
        *JR_PUSH(path->functions, path->count, path->room) =
            jr_node_function(model, node);
}

/* Hands out whole periods of growing sums, so that the numbers of all lines
 * add up to the rounded whole: what one line rounds away, the next gets. */
struct rounding {
    uint64_t sum_ns, given;
};

static uint64_t round_next(const struct jr_model *model,
                           struct rounding *rounding, uint64_t weight_ns)
{
    uint64_t before = rounding->given;

    rounding->sum_ns = jr_add(rounding->sum_ns, weight_ns);
    rounding->given = jr_periods(model, rounding->sum_ns);
    return rounding->given - before;
}

/* Moves the weights of paths that differ in merged tiers only to one of
 * them. */
static uint64_t *one_node_a_path(const struct jr_model *model,
                                 uint64_t *weights)
{
    uint32_t *same = jr_part_same_paths(model);

    for (uint32_t i = 1; i < model->nodes.count; i++)
        if (same[i] != i) {
            weights[same[i]] = jr_add(weights[same[i]], weights[i]);
            weights[i] = 0;
        }
    free(same);
    return weights;
}

typedef void put_line_fn(const struct jr_report *report, const char *prefix,
                         const struct path *path, uint64_t count, FILE *out);

static void put_stacks(const struct jr_report *report,
                       const struct jr_scope_key *key, put_line_fn *put_line,
                       FILE *out)
{
    const struct jr_model *model = report->model;
    uint64_t *weights = one_node_a_path(model, jr_part_weights(model, key));
    char *prefix =
        key->scope == JR_SCOPE_ALL ? NULL : jr_part_title(report, key);
    struct rounding rounding = {0};
    struct path path = {0};

    for (uint32_t node = 1; node < model->nodes.count; node++) {
        uint64_t count;

        if (weights[node] == 0)
            continue;
        count = round_next(model, &rounding, weights[node]);
        if (count == 0)
            continue;
        climb(model, node, &path);
        put_line(report, prefix, &path, count, out);
    }
    free(path.functions);
    free(prefix);
    free(weights);
}

static void put_collapsed_line(const struct jr_report *report,
                               const char *prefix, const struct path *path,
                               uint64_t count, FILE *out)
{
    const struct jr_function *functions = report->model->functions;

    if (prefix != NULL) {
        jr_put_collapsed(out, prefix);
        fputc(';', out);
    }
    for (size_t i = path->count; i-- > 0;) {
        jr_put_collapsed(out, functions[path->functions[i]].name);
        jr_put_tier(&functions[path->functions[i]], out);
        fputc(i ? ';' : ' ', out);
    }
    fprintf(out, "%" PRIu64 "\n", count);
}

/* The parts that together hold every sample once, [first, end): threads, else
 * the total. */
static size_t disjoint_parts(const struct jr_report *report, size_t *end)
{
    if (!report->model->filter.by_thread) {
        *end = 1;
        return 0;
    }
    *end = report->nparts;
    return report->nparts > 1 ? 1 : 0;
}

void jr_write_collapsed(const struct jr_report *report, FILE *out)
{
    size_t end;

    for (size_t i = disjoint_parts(report, &end); i < end; i++)
        put_stacks(report, &report->parts[i], put_collapsed_line, out);
}

/* Cleo knows no weights: a stack is repeated, but not without end for a
 * weight from a damaged file. */
#define CLEO_REPEAT_MAX 1000000

static void put_cleo_line(const struct jr_report *report, const char *prefix,
                          const struct path *path, uint64_t count, FILE *out)
{
    const struct jr_function *functions = report->model->functions;

    (void)prefix;
    if (count > CLEO_REPEAT_MAX)
        count = CLEO_REPEAT_MAX;
    while (count-- > 0)
        for (size_t i = path->count; i-- > 0;) {
            fputs(i == path->count - 1 ? "s-" : "c-", out);
            jr_put_text(out, functions[path->functions[i]].name);
            jr_put_tier(&functions[path->functions[i]], out);
            fputc('\n', out);
        }
}

void jr_write_cleo(const struct jr_report *report, FILE *out)
{
    size_t end;

    for (size_t i = disjoint_parts(report, &end); i < end; i++) {
        fputs("m-Start\n", out);
        put_stacks(report, &report->parts[i], put_cleo_line, out);
    }
}
