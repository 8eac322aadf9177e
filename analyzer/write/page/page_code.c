/* SPDX-License-Identifier: MIT
 *
 * The code of the hottest functions, for the page's script: instructions,
 * source lines, and which of them each sample was at.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "json.h"
#include "pack.h"
#include "page.h"
#include "page_lines.h"
#include "write/annotate.h"
#include "write/figures.h"
#include "write/lines.h"

#define FUNCTIONS_SHOWN 64
#define VERSIONS_SHOWN 6
#define ROWS_SHOWN 8000 /* of all functions; beyond, functions are left out */
#define LINES_AROUND 3  /* each one with samples */
#define TEXT_MOST 400
#define CHAIN_SHOWN 12 /* names of inlined functions */

static const struct jr_asm_limits limits = {200, 6, 400, 200, 0};

/* A place where samples are, as the page numbers them: from 1 on. */
struct spots {
    uint32_t *numbers; /* by spot of the model; 0: none of the page */
    uint32_t count;
    FILE *chains; /* JSON: their lines, innermost first; -1: not known */
    char *chains_text;
    size_t chains_size;
};

struct code {
    const struct jr_report *report;
    const struct jr_function *function;
    struct jr_code_view view;
    const struct jr_code_version *version; /* that is written */
    struct jr_page_lines lines;
    struct spots spots;
    FILE *out;
    size_t nrows, all_rows;
    FILE *hits; /* JSON: [spot, row, lines] of the version */
    char *hits_text;
    size_t hits_size, nhits;
    uint8_t *told; /* by hit of the version: it is among them */
    int has_code;  /* something of the function is shown */
};

static void begin_row(struct code *code)
{
    fputs(code->nrows++ ? ",\n[" : "[", code->out);
}

/* [3, short names]: what follows is of a function that was inlined, or no
 * more. */
static void put_functions(void *data, const struct jr_frames *frames)
{
    struct code *code = data;

    begin_row(code);
    fputs("3", code->out);
    for (size_t i = 0; i + 1 < frames->count && i < CHAIN_SHOWN; i++) {
        char *name = jr_short_name(frames->items[i].name);

        fputs(",", code->out);
        jr_page_json(code->out, name, TEXT_MOST);
        free(name);
    }
    fputs("]", code->out);
}

/* [1, file, line, column]; the text is in a table of its own. */
static void put_source(void *data, const char *file, uint32_t line,
                       uint32_t column, const char *text)
{
    struct code *code = data;

    (void)text;
    begin_row(code);
    fprintf(code->out, "1,%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]",
            jr_page_lines_text(&code->lines, file, line, 0), line, column);
}

/* [0, address, text] */
static void put_instruction(void *data, uint64_t address, const char *text,
                            uint64_t weight_ns)
{
    struct code *code = data;

    (void)weight_ns;
    begin_row(code);
    fprintf(code->out, "0,\"%" PRIx64 "\",", address);
    jr_page_json(code->out, text, TEXT_MOST);
    fputs("]", code->out);
}

/* [2, count] */
static void put_gap(void *data, size_t count)
{
    struct code *code = data;

    begin_row(code);
    fprintf(code->out, "2,%zu]", count);
}

/* A spot's lines. */
struct chain {
    struct code *code;
    size_t count;
};

static void put_line(void *data, const struct jr_frame *frame, size_t number)
{
    struct chain *chain = data;
    FILE *out = chain->code->spots.chains;

    if (chain->count == 0 && number > 0) {
        fputs("-1", out);
        chain->count++;
    }
    fprintf(out, "%s%" PRIu32, chain->count++ ? "," : "",
            jr_page_lines_add(&chain->code->lines, frame));
}

static void pass_line(void *data, const struct jr_frame *frame, size_t number)
{
    size_t *count = data;

    (void)frame;
    *count += 1 + (*count == 0 && number > 0);
}

/* How many of a spot's lines are of the function that is written; the text of
 * those is asked for. */
static size_t count_lines(struct code *code, const struct jr_frames *frames)
{
    const size_t depth = jr_code_depth(code->function, frames);
    size_t count = 0;

    jr_source_lines_of(frames, depth, pass_line, &count);
    for (size_t i = 0; i < depth; i++)
        if (frames->items[i].file && frames->items[i].line)
            jr_page_lines_text(&code->lines, frames->items[i].file,
                               frames->items[i].line, LINES_AROUND);
    return count;
}

static size_t first_member(const struct jr_code_view *view, size_t hit)
{
    return JR_FIRST_NOT(view->nmembers, i, view->members[i].hit < hit);
}

/* The page's number of a hit, which all spots of the model get that are at its
 * place. */
static uint32_t spot_of(struct code *code, size_t hit,
                        const struct jr_frames *frames)
{
    const struct jr_code_view *view = &code->view;
    struct spots *spots = &code->spots;
    const size_t first = first_member(view, hit);
    uint32_t number = 0;

    for (size_t i = first; i < view->nmembers && view->members[i].hit == hit;
         i++)
        if (spots->numbers[view->members[i].spot])
            number = spots->numbers[view->members[i].spot];
    if (number == 0) {
        struct chain chain = {code, 0};

        number = ++spots->count;
        fputs(number > 1 ? ",[" : "[", spots->chains);
        jr_source_lines_of(frames, frames->count, put_line, &chain);
        fputs("]", spots->chains);
    }
    for (size_t i = first; i < view->nmembers && view->members[i].hit == hit;
         i++)
        spots->numbers[view->members[i].spot] = number;
    return number;
}

/* Adds a hit of the version with the row that it is in; -1: none. */
static void add_hit(struct code *code, size_t hit, long row)
{
    const struct jr_code_hit *of = &code->version->hits[hit];
    struct jr_frame room;
    const struct jr_frames frames =
        jr_code_frames(&code->version->code, of->address, &room);
    const uint32_t spot =
        spot_of(code, (size_t)(of - code->view.hits), &frames);

    if (code->told[hit])
        return;
    code->told[hit] = 1;

    fprintf(code->hits, "%s[%" PRIu32 ",%ld,%zu]", code->nhits++ ? "," : "",
            spot, row, count_lines(code, &frames));
}

static void put_hit(void *data, size_t hit)
{
    struct code *code = data;

    add_hit(code, hit, (long)code->nrows - 1);
}

static int has_lines(const struct jr_code_version *version)
{
    struct jr_frame room;
    const struct jr_frames frames =
        jr_code_frames(&version->code, version->hits[0].address, &room);

    return frames.count > 0 && frames.items[0].line > 0;
}

/* Writes the rows of the version, and why there are none. */
static void put_rows(struct code *code)
{
    const struct jr_code_version *version = code->version;
    const struct jr_asm_sink sink = {put_functions, put_source, put_instruction,
                                     put_gap,       code,       put_hit};
    const struct jr_asm_job job = {version, code->function,
                                   jr_annotate_machine(code->report, version),
                                   code->lines.listings};
    struct jr_asm_limits shown = limits;
    const char *lack;

    if (!has_lines(version))
        shown.addresses = 0;
    shown.offsets = jr_code_module(&version->code) == NULL;
    fputs("\"rows\":[", code->out);
    lack = jr_annotate_lack(jr_asm_list(&job, &shown, &sink));
    fputs("],\"lack\":", code->out);
    jr_page_json(code->out, lack ? lack : "", TEXT_MOST);
    code->all_rows += code->nrows;
}

/* A piece: with its rows, or with what was sampled alone. */
static void put_version(struct code *code,
                        const struct jr_code_version *version, int is_shown)
{
    const struct jr_tier *tier = &code->report->model->tiers[version->tier];
    char *place = jr_annotate_place(code->report, version);

    code->version = version;
    code->nrows = code->nhits = 0;
    code->told = jr_alloc(version->nhits + 1, 1);
    code->hits = open_memstream(&code->hits_text, &code->hits_size);
    if (!code->hits)
        jr_no_memory();
    fputs("{\"tier\":", code->out);
    jr_page_json(code->out, tier->word ? tier->word : "", TEXT_MOST);
    fputs(",\"place\":", code->out);
    jr_page_json(code->out, place, TEXT_MOST);
    fputs(",", code->out);
    if (is_shown)
        put_rows(code);
    else
        fputs("\"rows\":null,\"lack\":\"\"", code->out);
    /* Where nothing can be shown, no sample needs a place. */
    code->has_code |= code->nrows > 0 || has_lines(version);
    for (size_t i = 0; i < version->nhits && code->has_code; i++)
        add_hit(code, i, -1);
    fclose(code->hits);
    fprintf(code->out, ",\"hits\":[%s]}", code->hits_text);
    free(code->hits_text);
    free(code->told);
    free(place);
}

static void put_function(struct code *code, const struct jr_codes *codes,
                         uint32_t function, uint32_t number)
{
    const struct jr_code_view *view = &code->view;

    jr_code_build(codes, function, &code->view);
    code->function = &code->report->model->functions[function];
    code->has_code = 0;
    fprintf(code->out, "{\"function\":%" PRIu32 ",\"pieces\":[", number);
    for (size_t i = 0; i < view->nversions; i++) {
        fputs(i ? "," : "", code->out);
        put_version(code, &view->versions[i], i < VERSIONS_SHOWN);
    }
    fputs("]}", code->out);
    jr_code_free(&code->view);
}

/* Adds where each sample was, in the order of the page's samples. */
static void add_spots(const struct code *code, const uint32_t *order,
                      struct jr_block *block)
{
    const struct jr_model *model = code->report->model;
    uint64_t *values = jr_alloc(model->nseen + 1, sizeof(*values));

    for (size_t i = 0; i < model->nseen; i++) {
        const uint32_t spot = model->seen[order[i]].spot;

        values[i] = spot == JR_NO_SPOT ? 0 : code->spots.numbers[spot];
    }
    jr_block_column(block, "spot", values, model->nseen);
    free(values);
}

void jr_page_code(const struct jr_report *report, const uint32_t *functions,
                  const uint32_t *order, FILE *out)
{
    struct code code = {.report = report};
    struct jr_codes *codes = jr_codes_new(report->model);
    struct jr_block block;
    size_t count, written = 0;
    uint32_t *chosen = jr_annotate_functions(
        report, codes, (struct jr_annotate_choice){FUNCTIONS_SHOWN, 0}, &count);

    jr_block_open(&block);
    code.out = block.head;
    jr_page_lines_open(&code.lines, &report->places);
    code.spots.numbers =
        jr_alloc(report->model->nspots + 1, sizeof(*code.spots.numbers));
    code.spots.chains =
        open_memstream(&code.spots.chains_text, &code.spots.chains_size);
    if (!code.spots.chains)
        jr_no_memory();
    fputs(",\"functions\":[", block.head);
    for (size_t i = 0; i < count && code.all_rows < ROWS_SHOWN; i++) {
        if (functions[chosen[i]] == 0)
            continue;
        fputs(written++ ? ",\n" : "", block.head);
        put_function(&code, codes, chosen[i], functions[chosen[i]] - 1);
    }
    fclose(code.spots.chains);
    fprintf(block.head, "],\"chains\":[%s]", code.spots.chains_text);
    jr_page_lines_close(&code.lines, block.head);
    if (code.spots.count > 0)
        add_spots(&code, order, &block);
    jr_block_close(&block, "code", out);
    free(code.spots.chains_text);
    free(code.spots.numbers);
    free(chosen);
    jr_codes_free(codes);
}
