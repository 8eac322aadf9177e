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
#include "callgrind_costs.h"
#include "jp_limits.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/program.h"

struct grind {
    const struct jr_report *report;
    const struct jr_model *model;
    FILE *out;
    const char **files; /* by function */
    struct jr_costs costs;
    struct jr_table by_object, by_file; /* names that have been written */
    uint8_t *named;                     /* by context: its name is written */
    uint8_t *called;                    /* by context: a call of it is */
    uint64_t cpu_ns, weight_ns;         /* of what is written */
};

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
    if (grind->costs.is_real)
        fprintf(grind->out, " %" PRIu64, weight_ns);
    putc('\n', grind->out);
}

static void put_call(struct grind *grind, uint32_t callee, uint64_t samples)
{
    put_where(grind, "cob", "cfi", callee);
    put_context(grind, "cfn", callee);
    fprintf(grind->out, "calls=%" PRIu64 " 0x0 0\n", samples);
}

/* A root that is called elsewhere, too, is called by "(root)": who counts calls
 * of a function would miss its cost as a root. */
static void put_roots(struct grind *grind)
{
    int has_any = 0;

    for (uint32_t i = 0; i < grind->costs.contexts; i++) {
        const struct jr_cost *root = &grind->costs.roots[i];

        if (root->samples == 0 || !grind->called[i])
            continue;
        if (!has_any)
            fputs("\nob=(0) ???\nfl=(0) ???\nfn=(0) (root)\n", grind->out);
        has_any = 1;
        put_call(grind, i, root->samples);
        fputs("0x0 0", grind->out);
        put_numbers(grind, root->cpu_ns, root->weight_ns);
    }
}

static void put_cost(struct grind *grind, const struct jr_cost *cost)
{
    const struct jr_model *model = grind->model;
    const struct jr_place *place = &model->places.items[cost->place];

    if (cost->callee != JR_NO_CALLEE) {
        grind->called[cost->callee] = 1;
        put_call(grind, cost->callee, cost->samples);
    } else {
        grind->cpu_ns = jr_add(grind->cpu_ns, cost->cpu_ns);
        grind->weight_ns = jr_add(grind->weight_ns, cost->weight_ns);
    }
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
            grind->costs.is_real ? "event: Wall : Real time (ns)\n" : "",
            grind->costs.is_real ? " Wall" : "");
    jr_export_free_lines(lines, count);
    free(command);
}

static void put_costs(struct grind *grind)
{
    const struct jr_costs *costs = &grind->costs;

    for (size_t i = 0; i < costs->count; i++) {
        const struct jr_cost *cost = &costs->items[i];

        if (i == 0 || cost->context != cost[-1].context) {
            putc('\n', grind->out);
            put_where(grind, "ob", "fl", cost->context);
            put_context(grind, "fn", cost->context);
        }
        put_cost(grind, cost);
    }
}

void jr_write_callgrind(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    struct grind grind = {.report = report,
                          .model = model,
                          .out = out,
                          .files = jr_export_files(model)};

    jr_costs_open(&grind.costs, model);
    grind.named = jr_alloc(grind.costs.contexts + 1ULL, 1);
    grind.called = jr_alloc(grind.costs.contexts + 1ULL, 1);
    put_head(&grind);
    while (jr_costs_next(&grind.costs))
        put_costs(&grind);
    put_roots(&grind);
    fputs("\ntotals:", out);
    put_numbers(&grind, grind.cpu_ns, grind.weight_ns);
    jr_costs_close(&grind.costs);
    jr_table_free(&grind.by_object);
    jr_table_free(&grind.by_file);
    free(grind.files);
    free(grind.named);
    free(grind.called);
}
