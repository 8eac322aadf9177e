/* SPDX-License-Identifier: MIT
 *
 * Collapsed stacks, `root;child;leaf N`, for flame graphs, and the lines for
 * the Cleo tool, which have the same content in another form.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/build.h"
#include "model/scope.h"
#include "model/tiers.h"
#include "text.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/report.h"

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

/* A path, and what it weighs in a part. */
struct stack {
    uint32_t node;
    uint64_t weight_ns;
};

static int compare_stacks(const void *left, const void *right)
{
    const struct stack *a = left, *b = right;

    return a->node < b->node ? -1 : a->node > b->node;
}

/* The paths of a part, in order, those that differ in merged tiers only being
 * one; *count of them, which the caller frees. */
static struct stack *stacks_of(const struct jr_model *model,
                               const struct jr_scope_key *key,
                               const uint32_t *same, size_t *count)
{
    size_t n, kept = 0;
    const struct jr_leaf *leaves = jr_part_leaves(model, key, &n);
    struct stack *stacks = jr_alloc(n + 1, sizeof(*stacks));

    for (size_t i = 0; i < n; i++)
        stacks[i] = (struct stack){same[leaves[i].node], leaves[i].weight_ns};
    qsort(stacks, n, sizeof(*stacks), compare_stacks);
    for (size_t i = 0; i < n; i++)
        if (kept > 0 && stacks[kept - 1].node == stacks[i].node)
            stacks[kept - 1].weight_ns =
                jr_add(stacks[kept - 1].weight_ns, stacks[i].weight_ns);
        else
            stacks[kept++] = stacks[i];
    *count = kept;
    return stacks;
}

typedef void put_line_fn(const struct jr_report *report, const char *prefix,
                         const struct path *path, uint64_t count, FILE *out);

/* What the lines of a part share. */
struct lines {
    const struct jr_report *report;
    put_line_fn *put;
    const char *prefix; /* NULL: of the total */
    FILE *out;
};

static void put_stacks(const struct lines *lines, const struct stack *stacks,
                       size_t count)
{
    const struct jr_model *model = lines->report->model;
    struct rounding rounding = {0};
    struct path path = {0};

    for (size_t i = 0; i < count; i++) {
        uint64_t periods = round_next(model, &rounding, stacks[i].weight_ns);

        if (periods == 0)
            continue;
        climb(model, stacks[i].node, &path);
        lines->put(lines->report, lines->prefix, &path, periods, lines->out);
    }
    free(path.functions);
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

/* Writes the parts that together hold every sample once: threads, else the
 * total; with a line before each. */
static void put_parts(const struct jr_report *report, put_line_fn *put_line,
                      const char *before, FILE *out)
{
    const size_t end = report->model->filter.by_thread ? report->nparts : 1;
    uint32_t *same = jr_part_same_paths(report->model);
    char **titles = jr_part_titles(report);

    for (size_t i = end > 1 ? 1 : 0; i < end; i++) {
        const struct jr_scope_key *key = &report->parts[i];
        size_t count;
        struct stack *stacks = stacks_of(report->model, key, same, &count);

        fputs(before, out);
        put_stacks(
            &(struct lines){report, put_line,
                            key->scope == JR_SCOPE_ALL ? NULL : titles[i], out},
            stacks, count);
        free(stacks);
    }
    jr_part_titles_free(report, titles);
    free(same);
}

void jr_write_collapsed(const struct jr_report *report, FILE *out)
{
    put_parts(report, put_collapsed_line, "", out);
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
    put_parts(report, put_cleo_line, "m-Start\n", out);
}
