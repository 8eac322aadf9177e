/* SPDX-License-Identifier: MIT
 *
 * Annotated code: which functions, and the text form: source lines, then a
 * block for each piece of code, its instructions with the weight of the samples
 * that hit each, source lines between them.
 * Runs in: analyzer. */
#include "annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/mem.h"
#include "escape.h"
#include "figures.h"
#include "lines.h"
#include "model/build.h"

#define LINES_SHOWN 2000 /* of a function */
#define LINES_AROUND 2   /* those with samples */
#define VERSIONS_SHOWN 64
#define RULE                                                                   \
    "---------------------------------------------------------------------"    \
    "-----------\n"

/* Whether it is what compilers add to the name of a function of which they make
 * several, or take a part out. */
static int is_clone(const char *rest)
{
    static const char *const kinds[] = {".cold", ".constprop.", ".isra.",
                                        ".lto_priv.", ".part."};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(rest, kinds[i], strlen(kinds[i])) == 0)
            return 1;
    return 0;
}

/* Whether what follows a name without it is a place, the mark of a clone, or
 * arguments at the end of the whole name: not those of a function around it. */
static int is_behind(const char *rest)
{
    int depth = 0;

    if (strncmp(rest, " (", 2) == 0 || is_clone(rest))
        return 1;
    if (*rest != '(')
        return 0;
    for (; *rest; rest++) {
        depth += (*rest == '(') - (*rest == ')');
        if (depth == 0)
            return strncmp(rest, ")::", 3) != 0;
    }
    return 0;
}

/* Whether --annotate means the function by `name`: its whole name, its raw
 * name, or the name without the place or the arguments behind it. */
static int is_named(const struct jr_function *function, const char *name)
{
    size_t length = strlen(name);

    return strcmp(function->name, name) == 0 ||
           (function->raw && strcmp(function->raw, name) == 0) ||
           (length > 0 && strncmp(function->name, name, length) == 0 &&
            is_behind(function->name + length));
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
    struct jr_codes *codes;
    uint32_t *functions;
    size_t count;

    if (report->nannotate == 0)
        return;
    codes = jr_codes_new(report->model);
    functions = jr_code_hottest(codes, &count);
    for (size_t i = 0; i < report->nannotate; i++) {
        size_t j = 0;

        while (j < count && !means(report, report->annotate[i], functions[j]))
            j++;
        if (j == count)
            jr_say("--annotate %s: no sample is in code of this name",
                   report->annotate[i]);
    }
    free(functions);
    jr_codes_free(codes);
}

uint32_t *jr_annotate_functions(const struct jr_report *report,
                                const struct jr_codes *codes,
                                struct jr_annotate_choice choice, size_t *count)
{
    size_t all, hot = 0;
    uint32_t *functions = jr_code_hottest(codes, &all);

    *count = 0;
    for (size_t i = 0; i < all; i++) {
        const uint32_t function = functions[i];
        const int is_hot =
            (!choice.jit_only ||
             report->model->functions[function].kind == JR_FRAME_JIT) &&
            hot++ < choice.hottest;

        if (is_hot || is_wanted(report, function))
            functions[(*count)++] = function;
    }
    return functions;
}

/* The place of a file's code. */
static char *file_place(const struct jr_code_piece *code)
{
    if (code->start == code->end)
        return jr_printf("in %s", jr_code_module(code));
    return jr_printf("0x%" PRIx64 ", %" PRIu64 " bytes of %s", code->start,
                     code->end - code->start, jr_code_module(code));
}

char *jr_annotate_place(const struct jr_report *report,
                        const struct jr_code_version *version)
{
    const struct jr_process *process =
        &report->model->processes[version->process];
    uint64_t began = process->run->header.mono_ns;
    const struct jr_code_piece *code = &version->code;
    uint64_t from = code->loaded_ns > began ? code->loaded_ns - began : 0;
    char *text, *end, *start;

    if (jr_code_module(code))
        return file_place(code);
    if (jr_code_is_script(code))
        return jr_strdup("bytecode");
    start = jr_duration(from);
    end = code->until_ns == UINT64_MAX || code->until_ns < began
              ? jr_strdup("")
              : jr_duration(code->until_ns - began);
    text = jr_printf(
        "0x%" PRIx64 ", %" PRIu64 " bytes%s%s%s%s%s%s", code->start,
        code->end - code->start, from ? ", from " : "", from ? start : "",
        *end ? from ? " to " : ", until " : "", end,
        code->jit.source == JR_JIT_DUMP ? ", by jitdump" : ", by perf map",
        code->jit.late ? ", described later" : "");
    free(start);
    free(end);
    return text;
}

const char *jr_annotate_lack(enum jr_asm_result result)
{
    switch (result) {
    case JR_ASM_SCRIPT:
        return "An interpreter runs this function: sampled positions only.";
    case JR_ASM_NO_BYTES:
        return "The code itself was not kept: sampled addresses only.";
    case JR_ASM_NO_FILE:
        return "The file is not here or has changed: sampled addresses only.";
    case JR_ASM_NO_TEXT:
        return "Only the debug file is here, which is without code: sampled "
               "addresses only.";
    case JR_ASM_NO_EXTENT:
        return "Neither a symbol nor unwinding information tells where this "
               "code begins: sampled addresses only.";
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
    struct jr_listings *listings;
    uint64_t whole_ns; /* what percentages are of */
    FILE *out;
};

static void put_functions(void *data, const struct jr_frames *frames)
{
    struct text *to = data;

    fprintf(to->out, "%22s", "");
    /* The function that is listed is the last one. */
    for (size_t i = 0; i == 0 || i + 1 < frames->count; i++) {
        fputs(i ? ", in " : "", to->out);
        jr_put_text(to->out, frames->items[i].name);
        fputs(frames->items[i].inlined ? JR_INLINED : "", to->out);
    }
    fputs(":\n", to->out);
}

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

/* Count and its share, or blanks. */
static void put_figures(const struct text *to, uint64_t weight_ns)
{
    if (weight_ns)
        fprintf(to->out, "%8" PRIu64 "  %5.1f%%  ",
                jr_periods(to->report->model, weight_ns),
                jr_percent(weight_ns, to->whole_ns));
    else
        fprintf(to->out, "%18s", "");
}

static void put_instruction(void *data, uint64_t address, const char *text,
                            uint64_t weight_ns)
{
    struct text *to = data;

    put_figures(to, weight_ns);
    fprintf(to->out, "%14" PRIx64 ":  ", address);
    jr_put_text(to->out, text);
    fputc('\n', to->out);
}

static void put_gap(void *data, size_t count)
{
    struct text *to = data;

    fprintf(to->out, "%34s... %zu instructions\n", "", count);
}

static void put_version(struct text *to, const struct jr_function *function,
                        const struct jr_code_version *version)
{
    static const struct jr_asm_limits limits = {4096, 16, 4096, 4096, 0};
    const struct jr_tier *tier = &to->report->model->tiers[version->tier];
    const struct jr_asm_sink sink = {put_functions, put_source, put_instruction,
                                     put_gap,       to,         NULL};
    const struct jr_asm_job job = {version, function,
                                   jr_annotate_machine(to->report, version),
                                   to->listings};
    char *place = jr_annotate_place(to->report, version);
    const char *lack;

    fprintf(to->out,
            "\n%s%s%" PRIu64 " (%.1f%%): ", tier->word ? tier->word : "",
            tier->word ? ", " : "",
            jr_periods(to->report->model, version->weight_ns),
            jr_percent(version->weight_ns, to->whole_ns));
    jr_put_text(to->out, place);
    fputs("\n   Count  %Total         Address  Instruction\n", to->out);
    lack = jr_annotate_lack(jr_asm_list(&job, &limits, &sink));
    if (lack)
        fprintf(to->out, "%18s%s\n", "", lack);
    free(place);
}

static void put_line(const struct text *to, const char *file, uint32_t number,
                     const struct jr_source_line *hit)
{
    const char *text;
    int length = jr_listings_line(to->listings, file, number, &text);
    char *copy;

    /* Of a file that is not here only lines with samples are named. */
    if (length < 0 && !hit)
        return;
    put_figures(to, hit ? hit->self_ns : 0);
    if (hit)
        fprintf(to->out, "%8" PRIu64,
                jr_periods(to->report->model, hit->total_ns));
    else
        fprintf(to->out, "%8s", "");
    fprintf(to->out, " %6" PRIu32, number);
    if (length > 0) {
        copy = jr_asm_clean(text, (size_t)length);
        fputs("  ", to->out);
        jr_put_text(to->out, copy);
        free(copy);
    }
    fputc('\n', to->out);
}

/* The lines with samples [line, end) of a file, and those around them. */
static void put_stretch(const struct text *to,
                        const struct jr_source_line *line,
                        const struct jr_source_line *end)
{
    const char *file = line->file;
    const uint32_t last = end[-1].line;
    const uint32_t until =
        last <= UINT32_MAX - LINES_AROUND ? last + LINES_AROUND : last;
    uint32_t at = line->line > LINES_AROUND ? line->line - LINES_AROUND : 1;

    for (; at <= until && at > 0; at++) {
        const int is_hit = line < end && line->line == at;

        put_line(to, file, at, is_hit ? line : NULL);
        line += is_hit;
    }
}

/* The head of the lines of a function in a file. */
static void put_file(const struct text *to, const struct jr_source_line *line)
{
    fputc('\n', to->out);
    if (line->name) {
        jr_put_text(to->out, line->name);
        fputs(line->inlined ? JR_INLINED ": " : ": ", to->out);
    }
    jr_put_text(to->out, line->file);
    fputs("\n   Count  %Total  +Inlined   Line\n", to->out);
}

static void put_lines(const struct text *to, const struct jr_code_view *view)
{
    const struct jr_source_line *line, *end;
    struct jr_source_lines lines;
    size_t shown = 0;

    jr_source_lines_build(to->report->model, view, &lines);
    end = lines.items + (lines.count < LINES_SHOWN ? lines.count : LINES_SHOWN);
    for (line = lines.items; line < end;) {
        const struct jr_source_line *next = line + 1;

        while (next < end && jr_source_lines_near(line, next) &&
               next->line - next[-1].line <= 2 * LINES_AROUND + 1)
            next++;
        if (line == lines.items || !jr_source_lines_near(line - 1, line))
            put_file(to, line);
        else
            fprintf(to->out, "%34s...\n", "");
        put_stretch(to, line, next);
        shown += (size_t)(next - line);
        line = next;
    }
    if (lines.count > shown)
        fprintf(to->out, "%zu more lines\n", lines.count - shown);
    if (lines.count == 0)
        fputs("\nNo debug information tells the source lines of this code.\n",
              to->out);
    else if (lines.unknown_ns)
        fprintf(to->out, "\nCount of code without a known line: %" PRIu64 "\n",
                jr_periods(to->report->model, lines.unknown_ns));
    free(lines.items);
}

static void put_function(struct text *to, const struct jr_codes *codes,
                         uint32_t number)
{
    const struct jr_model *model = to->report->model;
    const struct jr_function *function = &model->functions[number];
    struct jr_code_view view;

    jr_code_build(codes, number, &view);
    to->whole_ns = view.weight_ns;
    fputs("\n" RULE, to->out);
    jr_put_text(to->out, function->name);
    jr_put_tier(function, to->out);
    fprintf(to->out,
            "\nCount %" PRIu64 ", %.1f%% of the profile; pieces of "
            "code: %zu\n",
            jr_periods(model, view.weight_ns),
            jr_percent(view.weight_ns, model->total.weight_ns), view.nversions);
    if (view.self_ns < view.weight_ns)
        fprintf(to->out,
                "Of this %" PRIu64 " in the function itself, the rest in "
                "functions inlined into it\n",
                jr_periods(model, view.self_ns));
    if (function->raw) {
        fputs(function->kind == JR_FRAME_JIT ? "Named by its runtime: "
                                             : "Symbol: ",
              to->out);
        jr_put_text(to->out, function->raw);
        fputc('\n', to->out);
    }
    put_lines(to, &view);
    if (function->kind == JR_FRAME_SCRIPT)
        view.nversions = 0; /* it has no machine code */
    for (size_t i = 0; i < view.nversions && i < VERSIONS_SHOWN; i++)
        put_version(to, function, &view.versions[i]);
    if (view.nversions > VERSIONS_SHOWN)
        fprintf(to->out,
                "\n%zu more pieces of code, at most %" PRIu64 " each\n",
                view.nversions - VERSIONS_SHOWN,
                jr_periods(model, view.versions[VERSIONS_SHOWN].weight_ns));
    jr_code_free(&view);
}

void jr_write_annotate(const struct jr_report *report, FILE *out)
{
    struct jr_codes *codes = jr_codes_new(report->model);
    struct text to = {.report = report,
                      .listings = jr_listings_new(&report->places),
                      .out = out};
    size_t count;
    uint32_t *functions = jr_annotate_functions(
        report, codes, (struct jr_annotate_choice){0, 0}, &count);

    fputs("Jprof Annotated Code\n", out);
    for (size_t i = 0; i < count; i++)
        put_function(&to, codes, functions[i]);
    if (count == 0)
        fputs("\nNo sample is in code of such a name.\n", out);
    free(functions);
    jr_listings_free(to.listings);
    jr_codes_free(codes);
}
