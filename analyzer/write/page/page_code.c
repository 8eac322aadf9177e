/* SPDX-License-Identifier: MIT
 *
 * The machine code of the hottest JIT functions, for the page's script.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "pack.h"
#include "page.h"
#include "write/annotate.h"
#include "write/figures.h"

#define FUNCTIONS_SHOWN 64
#define VERSIONS_SHOWN 6
#define TEXT_MOST 400

static const struct jr_asm_limits limits = {400, 12, 1000, 400, 1};

struct code {
    FILE *out;
    uint64_t start;
    size_t nlines;
};

static void begin_line(struct code *code)
{
    fputs(code->nlines++ ? ",\n[" : "[", code->out);
}

/* [1, file, line, text]; text null: the file was not found. */
static void put_source(void *data, const char *file, uint32_t line,
                       uint32_t column, const char *text)
{
    struct code *code = data;

    (void)column;
    begin_line(code);
    fputs("1,", code->out);
    jr_page_json(code->out, file, TEXT_MOST);
    fprintf(code->out, ",%" PRIu32 ",", line);
    if (text)
        jr_page_json(code->out, text, TEXT_MOST);
    else
        fputs("null", code->out);
    fputs("]", code->out);
}

/* [0, offset, text, weight] */
static void put_instruction(void *data, uint64_t address, const char *text,
                            uint64_t weight_ns)
{
    struct code *code = data;

    begin_line(code);
    fprintf(code->out, "0,\"+%" PRIx64 "\",", address - code->start);
    jr_page_json(code->out, text, TEXT_MOST);
    fprintf(code->out, ",%" PRIu64 "]",
            weight_ns < JR_PACK_MOST ? weight_ns : JR_PACK_MOST);
}

/* [2, count] */
static void put_gap(void *data, size_t count)
{
    struct code *code = data;

    begin_line(code);
    fprintf(code->out, "2,%zu]", count);
}

static void put_functions(void *data, const struct jr_frames *frames)
{
    (void)data;
    (void)frames;
}

static void put_version(const struct jr_report *report,
                        const struct jr_function *function,
                        const struct jr_code_version *version,
                        struct jr_listings *listings, FILE *out)
{
    struct code code = {.out = out, .start = version->code.start};
    const struct jr_asm_sink sink = {put_functions, put_source, put_instruction,
                                     put_gap, &code};
    const struct jr_asm_job job = {
        version, function, jr_annotate_machine(report, version), listings};
    const struct jr_tier *tier = &report->model->tiers[version->tier];
    char *place = jr_annotate_place(report, version);
    struct jr_asm_limits shown = limits;
    const char *lack;

    if (version->code.jit.nlines == 0)
        shown.addresses = 0;
    fputs("{\"tier\":", out);
    jr_page_json(out, tier->word ? tier->word : "", TEXT_MOST);
    fputs(",\"place\":", out);
    jr_page_json(out, place, TEXT_MOST);
    fprintf(out, ",\"weight\":%" PRIu64 ",\"lines\":[",
            version->weight_ns < JR_PACK_MOST ? version->weight_ns
                                              : JR_PACK_MOST);
    lack = jr_annotate_lack(jr_asm_list(&job, &shown, &sink));
    fputs("],\"lack\":", out);
    jr_page_json(out, lack ? lack : "", TEXT_MOST);
    fputs("}", out);
    free(place);
}

void jr_page_code(const struct jr_report *report, const uint32_t *functions,
                  FILE *out)
{
    struct jr_listings *listings = jr_listings_new(&report->places);
    struct jr_block block;
    size_t count, written = 0;
    struct jr_codes *codes = jr_codes_new(report->model);
    uint32_t *chosen = jr_annotate_functions(
        report, codes, (struct jr_annotate_choice){FUNCTIONS_SHOWN, 0}, &count);

    jr_block_open(&block);
    fputs(",\"functions\":[", block.head);
    for (size_t i = 0; i < count; i++) {
        struct jr_code_view view;

        if (functions[chosen[i]] == 0)
            continue;
        jr_code_build(codes, chosen[i], &view);
        fprintf(
            block.head, "%s{\"function\":%" PRIu32 ",\"more\":%zu,\"pieces\":[",
            written++ ? ",\n" : "", functions[chosen[i]] - 1,
            view.nversions > VERSIONS_SHOWN ? view.nversions - VERSIONS_SHOWN
                                            : 0);
        for (size_t v = 0; v < view.nversions && v < VERSIONS_SHOWN; v++) {
            fputs(v ? "," : "", block.head);
            put_version(report, &report->model->functions[chosen[i]],
                        &view.versions[v], listings, block.head);
        }
        fputs("]}", block.head);
        jr_code_free(&view);
    }
    fputs("]", block.head);
    free(chosen);
    jr_codes_free(codes);
    jr_listings_free(listings);
    jr_block_close(&block, "code", out);
}
