/* SPDX-License-Identifier: MIT
 *
 * Annotated machine code of JIT functions: which functions, and the text
 * form: a block for each piece of code, its instructions with the weight of
 * the samples that hit each, source lines between them.
 * Runs in: analyzer. */
#include "annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "escape.h"
#include "figures.h"

#define VERSIONS_SHOWN 64
#define RULE                                                                   \
    "---------------------------------------------------------------------"    \
    "-----------\n"

/* Whether --annotate means the function by `name`: its whole name, its raw
 * name, or the name without the place behind it. */
static int is_named(const struct jr_function *function, const char *name)
{
    size_t length = strlen(name);

    return strcmp(function->name, name) == 0 ||
           (function->raw && strcmp(function->raw, name) == 0) ||
           (strncmp(function->name, name, length) == 0 &&
            strncmp(function->name + length, " (", 2) == 0);
}

/* The raw names of the other tiers count too. */
static int is_a_tier(const struct jr_model *model, uint32_t function,
                     const char *name)
{
    for (size_t i = 0; i < model->ntiers; i++)
        if (model->tiers[i].function == function &&
            strcmp(model->tiers[i].raw, name) == 0)
            return 1;
    return 0;
}

static int means(const struct jr_report *report, const char *name,
                 uint32_t function)
{
    return is_named(&report->model->functions[function], name) ||
           is_a_tier(report->model, function, name);
}

static int is_wanted(const struct jr_report *report, uint32_t function)
{
    for (size_t i = 0; i < report->nannotate; i++)
        if (means(report, report->annotate[i], function))
            return 1;
    return 0;
}

void jr_annotate_say_absent(const struct jr_report *report)
{
    size_t count;
    uint32_t *functions =
        jr_code_hottest(report->model, report->model->nfunctions, &count);

    for (size_t i = 0; i < report->nannotate; i++) {
        size_t j = 0;

        while (j < count && !means(report, report->annotate[i], functions[j]))
            j++;
        if (j == count)
            jr_say("--annotate %s: no sample is in JIT code of this name",
                   report->annotate[i]);
    }
    free(functions);
}

uint32_t *jr_annotate_functions(const struct jr_report *report, size_t hottest,
                                size_t *count)
{
    const struct jr_model *model = report->model;
    size_t all, hot = 0;
    uint32_t *functions = jr_code_hottest(model, model->nfunctions, &all);

    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (is_wanted(report, functions[i]) || hot++ < hottest)
            functions[(*count)++] = functions[i];
    return functions;
}

char *jr_annotate_place(const struct jr_report *report,
                        const struct jr_code_version *version)
{
    const struct jr_process *process =
        &report->model->processes[version->process];
    uint64_t began = process->run->header.mono_ns;
    const struct jr_jit_code *code = &version->code;
    uint64_t from = code->loaded_ns > began ? code->loaded_ns - began : 0;
    char *text, *end, *start = jr_duration(from);

    end = code->until_ns == UINT64_MAX || code->until_ns < began
              ? jr_strdup("")
              : jr_duration(code->until_ns - began);
    text = jr_printf(
        "0x%" PRIx64 ", %" PRIu64 " bytes%s%s%s%s%s%s", code->start,
        code->end - code->start, from ? ", from " : "", from ? start : "",
        *end ? from ? " to " : ", until " : "", end,
        code->source == JR_JIT_DUMP ? ", by jitdump" : ", by perf map",
        code->late ? ", described later" : "");
    free(start);
    free(end);
    return text;
}

const char *jr_annotate_lack(enum jr_asm_result result)
{
    switch (result) {
    case JR_ASM_NO_BYTES:
        return "The code itself was not kept: sampled addresses only.";
    case JR_ASM_NO_MACHINE:
        return "No disassembler for this machine: sampled addresses only.";
    case JR_ASM_WHOLE:
        break;
    }
    return NULL;
}

uint16_t jr_annotate_machine(const struct jr_report *report,
                             const struct jr_code_version *version)
{
    return report->model->processes[version->process].run->header.machine;
}

/* For the functions of the sink. */
struct text {
    const struct jr_report *report;
    uint64_t whole_ns; /* what percentages are of */
    FILE *out;
};

static void put_source(void *data, const char *file, uint32_t line,
                       uint32_t column, const char *text)
{
    struct text *to = data;

    fprintf(to->out, "%24s", "");
    jr_put_text(to->out, jr_base_name(file));
    fprintf(to->out, ":%" PRIu32, line);
    if (column)
        fprintf(to->out, ":%" PRIu32, column);
    if (text) {
        fputs("  ", to->out);
        jr_put_text(to->out, text);
    }
    fputc('\n', to->out);
}

static void put_instruction(void *data, uint64_t address, const char *text,
                            uint64_t weight_ns)
{
    struct text *to = data;

    if (weight_ns)
        fprintf(to->out, "%8" PRIu64 "  %5.1f%%  ",
                jr_periods(to->report->model, weight_ns),
                jr_percent(weight_ns, to->whole_ns));
    else
        fprintf(to->out, "%18s", "");
    fprintf(to->out, "%14" PRIx64 ":  ", address);
    jr_put_text(to->out, text);
    fputc('\n', to->out);
}

static void put_gap(void *data, size_t count)
{
    struct text *to = data;

    fprintf(to->out, "%34s... %zu instructions\n", "", count);
}

static void put_version(struct text *to, const struct jr_code_version *version,
                        struct jr_listings *listings)
{
    static const struct jr_asm_limits limits = {4096, 16, 4096, 4096, 0};
    const struct jr_tier *tier = &to->report->model->tiers[version->tier];
    struct jr_asm_sink sink = {put_source, put_instruction, put_gap, to};
    char *place = jr_annotate_place(to->report, version);
    const char *lack;

    fprintf(to->out, "\n%s%s%" PRIu64 " (%.1f%%): %s\n",
            tier->word ? tier->word : "", tier->word ? ", " : "",
            jr_periods(to->report->model, version->weight_ns),
            jr_percent(version->weight_ns, to->whole_ns), place);
    fputs("   Count  %Total         Address  Instruction\n", to->out);
    lack = jr_annotate_lack(
        jr_asm_list(version, jr_annotate_machine(to->report, version), listings,
                    &limits, &sink));
    if (lack)
        fprintf(to->out, "%18s%s\n", "", lack);
    free(place);
}

static void put_function(struct text *to, uint32_t function,
                         struct jr_listings *listings)
{
    const struct jr_model *model = to->report->model;
    struct jr_code_view view;

    jr_code_build(model, function, &view);
    to->whole_ns = view.weight_ns;
    fputs("\n" RULE, to->out);
    jr_put_text(to->out, model->functions[function].name);
    jr_put_tier(&model->functions[function], to->out);
    fprintf(to->out,
            "\nCount %" PRIu64 ", %.1f%% of the profile; pieces of "
            "code: %zu\n",
            jr_periods(model, view.weight_ns),
            jr_percent(view.weight_ns, model->total.weight_ns), view.nversions);
    if (model->functions[function].raw) {
        fputs("Named by its runtime: ", to->out);
        jr_put_text(to->out, model->functions[function].raw);
        fputc('\n', to->out);
    }
    for (size_t i = 0; i < view.nversions && i < VERSIONS_SHOWN; i++)
        put_version(to, &view.versions[i], listings);
    if (view.nversions > VERSIONS_SHOWN)
        fprintf(to->out,
                "\n%zu more pieces of code, at most %" PRIu64 " each\n",
                view.nversions - VERSIONS_SHOWN,
                jr_periods(model, view.versions[VERSIONS_SHOWN].weight_ns));
    jr_code_free(&view);
}

void jr_write_annotate(const struct jr_report *report, FILE *out)
{
    struct jr_listings *listings = jr_listings_new(&report->places);
    struct text to = {.report = report, .out = out};
    size_t count;
    uint32_t *functions = jr_annotate_functions(report, 0, &count);

    fputs("Jprof Annotated Code\n", out);
    for (size_t i = 0; i < count; i++)
        put_function(&to, functions[i], listings);
    if (count == 0)
        fputs("\nNo sample is in JIT code of such a name.\n", out);
    free(functions);
    jr_listings_free(listings);
}
