/* SPDX-License-Identifier: MIT
 *
 * callgrind profiles (valgrind's manual, "Callgrind Format Specification"):
 * costs of places, and of calls.
 *
 * Some readers take a function's inclusive cost for the sum of its own and its
 * calls' costs, others for the sum of the calls of it.  So that recursion
 * counts once in both, a function that is on the stack already is another one
 * there, NAME'2, of which each stack has the innermost only: the calls on both
 * sides of one that is left out become one.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export.h"
#include "jp_limits.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/program.h"

#define NO_CALLEE UINT32_MAX

/* What is spent at a place, or in a call from there.  A context is a function,
 * twice its number, or NAME'2, one more. */
struct cost {
    uint32_t context, place, callee; /* a context, or NO_CALLEE */
    uint64_t cpu_ns, weight_ns, samples;
};

struct grind {
    const struct jr_report *report;
    const struct jr_model *model;
    FILE *out;
    const char **files; /* by function */
    struct cost *costs;
    size_t ncosts, room;
    struct jr_table by_call;
    struct jr_table by_object, by_file; /* names that have been written */
    struct cost *roots; /* by context: of stacks that begin there */
    uint32_t *stamps;   /* by context: the leaf that has counted it, plus one */
    uint8_t *named;     /* by context: its name has been written */
    int is_real;
};

static uint32_t context_of(const struct jr_model *model, uint32_t node)
{
    return jr_node_function(model, node) * 2 +
           !(model->first[node] & JR_FIRST_FUNCTION);
}

static struct cost *cost_of(struct grind *grind, uint32_t node, uint32_t callee)
{
    const struct jr_model *model = grind->model;
    const uint32_t context = context_of(model, node);
    const uint32_t place = model->nodes.items[node].key;
    const uint32_t fresh = (uint32_t)grind->ncosts;
    const uint32_t found = jr_table_put(
        &grind->by_call, (uint64_t)place << 1 | (context & 1), callee, fresh);

    if (found == fresh)
        *JR_PUSH(grind->costs, grind->ncosts, grind->room) =
            (struct cost){.context = context, .place = place, .callee = callee};
    return &grind->costs[found];
}

static void add_to(struct cost *cost, const struct jr_leaf *leaf, int is_cpu)
{
    if (is_cpu)
        cost->cpu_ns = jr_add(cost->cpu_ns, leaf->weight_ns);
    cost->weight_ns = jr_add(cost->weight_ns, leaf->weight_ns);
    cost->samples += leaf->samples;
}

static void add_leaf(struct grind *grind, const struct jr_leaf *leaf,
                     uint32_t stamp)
{
    const struct jr_model *model = grind->model;
    const int is_cpu =
        !grind->is_real || jr_export_is_cpu(model->buckets[leaf->bucket].event);
    uint32_t callee = NO_CALLEE;

    for (uint32_t node = leaf->node; node != 0;
         node = model->nodes.items[node].parent) {
        const uint32_t context = context_of(model, node);

        if (grind->stamps[context] == stamp)
            continue;
        grind->stamps[context] = stamp;
        add_to(cost_of(grind, node, callee), leaf, is_cpu);
        callee = context;
    }
    if (callee != NO_CALLEE)
        add_to(&grind->roots[callee], leaf, is_cpu);
}

/* A root that is called elsewhere, too, is called by "(root)": who counts calls
 * of a function would miss its cost as a root. */
static void keep_roots(struct grind *grind)
{
    uint8_t *called = jr_alloc(2 * grind->model->nfunctions + 1, 1);

    for (size_t i = 0; i < grind->ncosts; i++)
        if (grind->costs[i].callee != NO_CALLEE)
            called[grind->costs[i].callee] = 1;
    for (uint32_t i = 0; i < 2 * grind->model->nfunctions; i++)
        if (!called[i])
            grind->roots[i].samples = 0;
    free(called);
}

static int compare_costs(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;

    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    /* Costs of its own come before those of calls. */
    if (a->callee != b->callee)
        return a->callee + 1 < b->callee + 1 ? -1 : 1;
    return 0;
}

/* The name of a context after its number; in full the first time. */
static void put_context(struct grind *grind, const char *key, uint32_t context)
{
    const struct jr_function *function = &grind->model->functions[context / 2];
    char *name;

    fprintf(grind->out, "%s=(%" PRIu32 ")", key, context + 1);
    if (!grind->named[context]) {
        grind->named[context] = 1;
        name = jr_export_name(function);
        putc(' ', grind->out);
        jr_put_text(grind->out, name);
        if (context & 1)
            fputs("'2", grind->out);
        free(name);
    }
    putc('\n', grind->out);
}

/* A name of an object or file after its number, likewise.  Equal names have
 * equal pointers; NULL: not known. */
static void put_text(struct grind *grind, const char *key,
                     struct jr_table *known, const char *text)
{
    const uint32_t fresh = (uint32_t)known->used;
    const uint32_t id = jr_table_put(known, (uintptr_t)text, 0, fresh);

    fprintf(grind->out, "%s=(%" PRIu32 ")", key, id + 1);
    if (id == fresh) {
        putc(' ', grind->out);
        jr_put_text(grind->out, text && *text ? text : "???");
    }
    putc('\n', grind->out);
}

/* The object and the file of a context; for a called one the keys have a c. */
static void put_where(struct grind *grind, const char *object, const char *file,
                      uint32_t context)
{
    put_text(grind, object, &grind->by_object,
             grind->model->functions[context / 2].module);
    put_text(grind, file, &grind->by_file, grind->files[context / 2]);
}

static void put_numbers(const struct grind *grind, uint64_t cpu_ns,
                        uint64_t weight_ns)
{
    fprintf(grind->out, " %" PRIu64, cpu_ns);
    if (grind->is_real)
        fprintf(grind->out, " %" PRIu64, weight_ns);
    putc('\n', grind->out);
}

static void put_call(struct grind *grind, uint32_t callee, uint64_t samples)
{
    put_where(grind, "cob", "cfi", callee);
    put_context(grind, "cfn", callee);
    fprintf(grind->out, "calls=%" PRIu64 " 0x0 0\n", samples);
}

static void put_roots(struct grind *grind)
{
    int has_any = 0;

    for (uint32_t i = 0; i < 2 * grind->model->nfunctions; i++) {
        const struct cost *root = &grind->roots[i];

        if (root->samples == 0)
            continue;
        if (!has_any)
            fputs("\nob=(0) ???\nfl=(0) ???\nfn=(0) (root)\n", grind->out);
        has_any = 1;
        put_call(grind, i, root->samples);
        fputs("0x0 0", grind->out);
        put_numbers(grind, root->cpu_ns, root->weight_ns);
    }
}

static void put_cost(struct grind *grind, const struct cost *cost)
{
    const struct jr_model *model = grind->model;
    const struct jr_place *place = &model->places.items[cost->place];

    if (cost->callee != NO_CALLEE)
        put_call(grind, cost->callee, cost->samples);
    fprintf(grind->out, "0x%" PRIx64 " %" PRIu32,
            jr_export_address(model, place),
            jr_export_line(model, place, grind->files));
    put_numbers(grind, cost->cpu_ns, cost->weight_ns);
}

static void put_head(struct grind *grind)
{
    const struct jr_model *model = grind->model;
    char *command = jr_program_command(grind->report);
    size_t count;
    char **lines = jr_export_lines(grind->report, &count);

    fprintf(grind->out,
            "# callgrind format\nversion: 1\ncreator: jprof-" JP_VERSION
            "\npid: %" PRIu32 "\ncmd: ",
            model->processes[0].run->header.pid);
    jr_put_text(grind->out, command ? command : "");
    putc('\n', grind->out);
    for (size_t i = 0; i < count; i++) {
        fputs("desc: ", grind->out);
        jr_put_text(grind->out, lines[i]);
        putc('\n', grind->out);
    }
    fprintf(grind->out,
            "positions: instr line\n"
            "event: Cpu : CPU time (ns)\n%sevents: Cpu%s\n",
            grind->is_real ? "event: Wall : Real time (ns)\n" : "",
            grind->is_real ? " Wall" : "");
    jr_export_free_lines(lines, count);
    free(command);
}

static void put_body(struct grind *grind)
{
    uint64_t cpu_ns = 0, weight_ns = 0;

    for (size_t i = 0; i < grind->ncosts; i++) {
        const struct cost *cost = &grind->costs[i];

        if (i == 0 || cost->context != cost[-1].context) {
            putc('\n', grind->out);
            put_where(grind, "ob", "fl", cost->context);
            put_context(grind, "fn", cost->context);
        }
        put_cost(grind, cost);
        if (cost->callee == NO_CALLEE) {
            cpu_ns = jr_add(cpu_ns, cost->cpu_ns);
            weight_ns = jr_add(weight_ns, cost->weight_ns);
        }
    }
    put_roots(grind);
    fputs("\ntotals:", grind->out);
    put_numbers(grind, cpu_ns, weight_ns);
}

void jr_write_callgrind(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    struct grind grind = {
        .report = report,
        .model = model,
        .out = out,
        .files = jr_export_files(model),
        .roots = jr_alloc(2 * model->nfunctions + 1, sizeof(struct cost)),
        .stamps = jr_alloc(2 * model->nfunctions + 1, sizeof(uint32_t)),
        .named = jr_alloc(2 * model->nfunctions + 1, 1),
        .is_real = jr_export_is_real(model)};

    for (size_t i = 0; i < model->nleaves; i++)
        add_leaf(&grind, &model->leaves[i], (uint32_t)i + 1);
    if (grind.ncosts > 0)
        qsort(grind.costs, grind.ncosts, sizeof(*grind.costs), compare_costs);
    keep_roots(&grind);
    put_head(&grind);
    put_body(&grind);
    jr_table_free(&grind.by_call);
    jr_table_free(&grind.by_object);
    jr_table_free(&grind.by_file);
    free(grind.costs);
    free(grind.files);
    free(grind.roots);
    free(grind.stamps);
    free(grind.named);
}
