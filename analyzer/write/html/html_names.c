/* SPDX-License-Identifier: MIT
 *
 * Names in the HTML report: text of any length, and a function with its link,
 * tiers and module.
 * Runs in: analyzer. */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "model/build.h"
#include "write/escape.h"
#include "write/figures.h"

/* The most bytes of a name in the page, and in a tooltip: some names have
 * hundreds of kilobytes. */
#define SHOWN_MAX 1000
#define TITLE_MAX 4000

void jr_html_text(FILE *out, const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);
    char *head;

    if (length <= most) {
        jr_put_html(out, text);
        return;
    }
    head = jr_strndup(text, jr_utf8_cut(text, most));
    jr_put_html(out, head);
    fputs("\xe2\x80\xa6", out);
    free(head);
}

/* The CSS class for a kind of code: " j" for JIT code, " u" for unnamed code,
 * else "". */
static const char *kind_class(const struct jr_function *function)
{
    switch (function->kind) {
    case JR_FRAME_NATIVE:
    case JR_FRAME_SCRIPT:
        return "";
    case JR_FRAME_JIT:
        return " j";
    default:
        return " u";
    }
}

/* Opens the element of a function's name: a link to its section.  A short part
 * links to the section in the total, if there is one.  Returns the tag. */
static const char *open_name(const struct jr_html_part *page, size_t row)
{
    const uint32_t id = page->part->rows[row].function;
    const char *kind = kind_class(&page->report->model->functions[id]);

    if (page->rows == NULL) {
        fprintf(page->out, "<a class=\"k%s\" href=\"#f%zu-%zu\">", kind,
                page->number, row);
        return "a";
    }
    if (page->rows[id] == 0) {
        fprintf(page->out, "<span class=\"k%s\">", kind);
        return "span";
    }
    fprintf(page->out, "<a class=\"k%s\" href=\"#f0-%" PRIu32 "\">", kind,
            page->rows[id] - 1);
    return "a";
}

/* Writes the tier too if `link` is set and the tier is part of the name. */
static void put_name(const struct jr_html_part *page, size_t row, int link)
{
    const struct jr_function *function =
        &page->report->model->functions[page->part->rows[row].function];
    const char *tag = open_name(page, row);

    jr_html_text(page->out, function->name, SHOWN_MAX);
    fprintf(page->out, "</%s>", tag);
    if (function->inlined)
        fputs(JR_INLINED, page->out);
    if (link && function->tier)
        fprintf(page->out, " <em>%s</em>", function->tier);
}

void jr_html_name(const struct jr_html_part *page, size_t row)
{
    put_name(page, row, 1);
}

/* The tiers of the function in a row.  If there are several, each has its
 * Count, or with `hits` its Hits. */
static void put_tiers(const struct jr_html_part *page, size_t row, int hits)
{
    const struct jr_model *model = page->report->model;
    const struct jr_row *of = &page->part->rows[row];

    for (size_t i = 0; i < of->ntiers; i++) {
        const struct jr_part_tier *weight = &page->part->tiers[of->tiers + i];
        const struct jr_tier *tier = &model->tiers[weight->tier];

        if (!hits && weight->self_ns == 0)
            continue;
        fputs(" <em title=\"", page->out);
        jr_html_text(page->out, tier->raw, TITLE_MAX);
        fprintf(page->out, "\">%s", tier->word ? tier->word : "other");
        if (of->ntiers > 1)
            fprintf(
                page->out, " <b>%" PRIu64 "</b>",
                jr_periods(model, hits ? weight->total_ns : weight->self_ns));
        fputs("</em>", page->out);
    }
}

static void put_module(const struct jr_html_part *page, size_t row)
{
    const struct jr_function *function =
        &page->report->model->functions[page->part->rows[row].function];
    const char *module = jr_shown_module(function);

    if (module[0] == '\0')
        return;
    fputs(" <small>", page->out);
    jr_put_html(page->out, module);
    fputs("</small>", page->out);
}

void jr_html_title(const struct jr_html_part *page, size_t row, int hits)
{
    const struct jr_row *of = &page->part->rows[row];
    const struct jr_function *function =
        &page->report->model->functions[of->function];

    fputs("<span", page->out);
    if (of->ntiers == 0 && function->raw && function->kind == JR_FRAME_JIT &&
        function->raw != function->name) {
        fputs(" title=\"", page->out);
        jr_html_text(page->out, function->raw, TITLE_MAX);
        fputs("\"", page->out);
    }
    fputs(">", page->out);
    put_name(page, row, 0);
    put_tiers(page, row, hits);
    put_module(page, row);
    if (page->has_code && page->has_code[of->function])
        fprintf(page->out, " <a class=\"c\" href=\"#c%" PRIu32 "\">code</a>",
                of->function);
    fputs("</span>", page->out);
}
