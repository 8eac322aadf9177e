/* SPDX-License-Identifier: MIT
 *
 * Reads what the files say about a piece of JIT code: its name and its lines.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "jit.h"
#include "read/jitdump_body.h"

#define BLOCK 512U

/* What was read so far. */
struct jr_jit_texts {
    uint32_t *of_piece;          /* number of its text, from 1 on; 0: none */
    struct jr_jit_text **blocks; /* of BLOCK texts, which do not move */
    size_t nblocks, blocks_room, count;
};

static struct jr_jit_text *text_at(const struct jr_jit_texts *texts,
                                   size_t index)
{
    return &texts->blocks[index / BLOCK][index % BLOCK];
}

/* The next text, zeroed; it is taken once texts->count says so. */
static struct jr_jit_text *next_text(struct jr_jit_texts *texts)
{
    struct jr_jit_text *text;

    if (texts->count == texts->nblocks * BLOCK)
        *JR_PUSH(texts->blocks, texts->nblocks, texts->blocks_room) =
            jr_alloc(BLOCK, sizeof **texts->blocks);
    text = text_at(texts, texts->count);
    memset(text, 0, sizeof *text);
    return text;
}

/* Takes a line table over; the code may have moved since it was loaded. */
static void take_lines(struct jr_jit_text *text, struct jr_strings *strings,
                       const struct jr_jitdump_lines *lines, uint64_t moved)
{
    text->lines = jr_alloc(lines->count, sizeof *text->lines);
    text->nlines = (uint32_t)lines->count;
    for (size_t i = 0; i < lines->count; i++) {
        const struct jr_jitdump_line *line = &lines->items[i];

        text->lines[i] = (struct jr_jit_source_line){
            .address = line->address + moved,
            .line = line->line,
            .discriminator = line->discriminator,
            .file = jr_strings_add(strings, lines->text + line->file,
                                   line->length)};
    }
}

static int read_dump(struct jr_jit *jit, struct jr_strings *strings,
                     struct jr_jit_text *text)
{
    const struct jr_jit_piece *piece = text->piece;
    const struct jr_jit_origin *origin = jit->files[piece->file];
    struct jr_jitdump_lines lines = {0};
    struct jr_jitdump_load load;

    if (jr_jitdump_load(&origin->dump, piece->offset, &load) < 0)
        return -1;
    text->code_offset = load.code_offset;
    text->name = jr_strings_add(strings, load.name, load.length);
    text->length = load.length;
    if (piece->back)
        jr_jitdump_lines(&origin->dump, piece->offset - piece->back, &load,
                         origin->bias, &lines);
    jit->garbage += lines.garbage;
    if (lines.count)
        take_lines(text, strings, &lines, piece->start - load.start);
    jr_jitdump_lines_free(&lines);
    return 0;
}

static void read_map(const struct jr_jit *jit, struct jr_strings *strings,
                     struct jr_jit_text *text)
{
    const struct jr_jit_piece *piece = text->piece;
    const struct jr_perfmap_line *line =
        &jit->files[piece->file]->map.lines[piece->offset];

    text->name = jr_strings_add(strings, line->name, line->length);
    text->length = line->length;
}

struct jr_jit_text *jr_jit_text(struct jr_jit *jit, struct jr_strings *strings,
                                const struct jr_jit_piece *piece)
{
    uint32_t *number;
    struct jr_jit_text *text;

    if (!jit->texts) {
        jit->texts = jr_alloc(1, sizeof *jit->texts);
        jit->texts->of_piece =
            jr_alloc(jit->npieces, sizeof *jit->texts->of_piece);
    }
    number = &jit->texts->of_piece[piece - jit->pieces];
    if (*number)
        return text_at(jit->texts, *number - 1);
    text = next_text(jit->texts);
    text->piece = piece;
    if (!jit->files[piece->file]->is_dump)
        read_map(jit, strings, text);
    else if (read_dump(jit, strings, text) < 0)
        return NULL;
    *number = (uint32_t)++jit->texts->count;
    return text;
}

void jr_jit_texts_free(struct jr_jit_texts *texts)
{
    if (!texts)
        return;
    for (size_t i = 0; i < texts->count; i++)
        free(text_at(texts, i)->lines);
    for (size_t i = 0; i < texts->nblocks; i++)
        free(texts->blocks[i]);
    free(texts->blocks);
    free(texts->of_piece);
    free(texts);
}

const struct jr_jit_source_line *jr_jit_line(const struct jr_jit_text *text,
                                             uint64_t address)
{
    const size_t from =
        JR_FIRST_NOT(text->nlines, i, text->lines[i].address <= address);

    return from ? &text->lines[from - 1] : NULL;
}
