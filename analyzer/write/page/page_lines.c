/* SPDX-License-Identifier: MIT
 *
 * Numbers source lines and gathers their text.
 * Runs in: analyzer. */
#include "page_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json.h"
#include "pack.h"
#include "symbol/names/short.h"
#include "write/asm.h"

#define TEXT_BYTES (600U << 10) /* of source in a page; it is compressed */
#define WORD_MOST 1000
#define LINES_MOST 200000

static FILE *open_text(char **text, size_t *size)
{
    FILE *stream = open_memstream(text, size);

    if (!stream)
        jr_no_memory();
    return stream;
}

void jr_page_lines_open(struct jr_page_lines *lines,
                        const struct jr_listing_places *places)
{
    struct jr_listing_places quiet = *places;

    /* Nobody asked for these functions by name. */
    quiet.is_quiet = 1;
    *lines = (struct jr_page_lines){.left = TEXT_BYTES};
    lines->listings = jr_listings_new(&quiet);
    lines->lines = open_text(&lines->lines_text, &lines->lines_size);
    lines->texts = open_text(&lines->texts_text, &lines->texts_size);
}

static uint32_t number_of(struct jr_page_words *words, const char *word)
{
    const uint32_t fresh = (uint32_t)words->count;
    const uint32_t number =
        jr_table_put(&words->by_word, (uintptr_t)word, 0, fresh);

    if (number == fresh)
        *JR_PUSH(words->items, words->count, words->room) = word;
    return number;
}

uint32_t jr_page_lines_add(struct jr_page_lines *lines,
                           const struct jr_frame *frame)
{
    const char *name = frame->name ? frame->name : "";
    const uint32_t function = number_of(&lines->names, name);
    const uint32_t file = number_of(&lines->files, frame->file);
    const uint32_t fresh = (uint32_t)lines->nlines;
    const uint32_t number =
        jr_table_put(&lines->by_line, (uint64_t)function << 32 | file,
                     (uint64_t)frame->inlined << 32 | frame->line, fresh);

    if (number != fresh)
        return number;
    fprintf(lines->lines, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%d]",
            lines->nlines++ ? "," : "", function, file, frame->line,
            frame->inlined);
    return number;
}

static void add_text(struct jr_page_lines *lines, const char *name,
                     uint32_t file, uint32_t line)
{
    const uint32_t fresh = (uint32_t)lines->by_text.used;
    const char *text;
    char *copy;
    int length;

    if (lines->left == 0 || fresh >= LINES_MOST ||
        jr_table_put(&lines->by_text, file, line, fresh) != fresh)
        return;
    length = jr_listings_line(lines->listings, name, line, &text);
    if (length < 0)
        return;
    copy = jr_asm_clean(text, (size_t)length);
    fprintf(lines->texts, "%s[%" PRIu32 ",%" PRIu32 ",",
            lines->ntexts++ ? "," : "", file, line);
    jr_page_json(lines->texts, copy, JR_LISTING_LINE_MAX);
    fputs("]", lines->texts);
    free(copy);
    lines->left -=
        (size_t)length + 8 < lines->left ? (size_t)length + 8 : lines->left;
}

uint32_t jr_page_lines_text(struct jr_page_lines *lines, const char *file,
                            uint32_t line, uint32_t around)
{
    const uint32_t number = number_of(&lines->files, file);
    const uint32_t from = line > around ? line - around : 1;

    for (uint32_t at = from; at - from <= line - from + around && at > 0; at++)
        add_text(lines, file, number, at);
    return number;
}

static void put_words(const struct jr_page_words *words, const char *member,
                      FILE *out)
{
    fprintf(out, ",\"%s\":[", member);
    for (size_t i = 0; i < words->count; i++) {
        fputs(i ? "," : "", out);
        jr_page_json(out, words->items[i], WORD_MOST);
    }
    fputs("]", out);
}

/* The short forms of the names, "" where that is the name. */
static void put_short(const struct jr_page_words *names, FILE *out)
{
    fputs(",\"short\":[", out);
    for (size_t i = 0; i < names->count; i++) {
        char *name = jr_short_name(names->items[i]);

        fputs(i ? "," : "", out);
        jr_page_json(out, strcmp(name, names->items[i]) == 0 ? "" : name,
                     WORD_MOST);
        free(name);
    }
    fputs("]", out);
}

static void free_words(struct jr_page_words *words)
{
    free(words->items);
    jr_table_free(&words->by_word);
}

void jr_page_lines_close(struct jr_page_lines *lines, FILE *out)
{
    fclose(lines->lines);
    fclose(lines->texts);
    put_words(&lines->names, "names", out);
    put_short(&lines->names, out);
    put_words(&lines->files, "files", out);
    fprintf(out, ",\"lines\":[%s],\"texts\":[%s]", lines->lines_text,
            lines->texts_text);
    free(lines->lines_text);
    free(lines->texts_text);
    free_words(&lines->names);
    free_words(&lines->files);
    jr_table_free(&lines->by_line);
    jr_table_free(&lines->by_text);
    jr_listings_free(lines->listings);
}
