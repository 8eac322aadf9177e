/* SPDX-License-Identifier: MIT
 *
 * Reads what the files say about a piece of JIT code: its name, its lines, its
 * bytes.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/file.h"
#include "../base/mem.h"
#include "jit.h"

#define BLOCK 512U

/* What was read so far. */
struct jr_jit_texts {
    uint32_t *of_piece;            /* number of its text, from 1 on; 0: none */
    struct jr_jit_text **blocks;   /* of BLOCK texts, which do not move */
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
    size_t from = 0, to = text->nlines;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (text->lines[middle].address <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from ? &text->lines[from - 1] : NULL;
}

/* Was the copy made before the piece was described, but when it may have been
 * there: nothing else was, and it had not been looked for in vain since? */
static int is_early(const struct jr_jit *jit, const struct jr_code_copy *copy,
                    const struct jr_jit_piece *piece, uint64_t address)
{
    struct jr_jit_span span = {0, UINT64_MAX};
    uint64_t since = jr_jit_since(jit, piece);
    int late;

    return (since == piece->from_ns || copy->time_ns >= since) &&
           jr_jit_find(jit, address, copy->time_ns, &span, &late) == piece;
}

/* Was the copy made while the piece was there? */
static int is_within(const struct jr_code_copy *copy,
                     const struct jr_jit_piece *piece)
{
    return (piece->always || copy->time_ns >= piece->from_ns) &&
           copy->time_ns < piece->until_ns;
}

/* Reads up to `room` bytes at `address` from a copy, which has it. */
static size_t read_one(const struct jr_jit *jit,
                       const struct jr_code_copy *copy, uint64_t address,
                       uint8_t *into, size_t room)
{
    struct stat info;
    const char *why;
    size_t got;
    char *path = *jit->log_dir
                     ? jr_printf("%s/%s", jit->log_dir, copy->saved)
                     : jr_strdup(copy->saved);
    int fd = jr_file_open(path, &info, &why);

    free(path);
    if (fd < 0)
        return 0;
    if (room > copy->end - address)
        room = (size_t)(copy->end - address);
    got = jr_file_pread(fd, into, room,
                        copy->offset + (address - copy->start));
    close(fd);
    return got;
}

#define PAGE 4096U
#define LEAST 16U     /* bytes that tell code from other code */

/* Have a piece's record and a copy of the page around `address` other code?
 * Compilers patch their code here and there: half of it stays. */
static int is_other(const struct jr_jit *jit, const struct jr_jit_text *text,
                    const struct jr_code_copy *copy, uint64_t address)
{
    const struct jr_jit_piece *piece = text->piece;
    const struct jr_jit_origin *origin = jit->files[piece->file];
    uint64_t from = address & ~(uint64_t)(PAGE - 1), to = from + PAGE;
    uint8_t said[PAGE], there[PAGE];
    size_t size, same = 0;

    from = from > piece->start ? from : piece->start;
    from = from > copy->start ? from : copy->start;
    to = to < jr_jit_end(piece) ? to : jr_jit_end(piece);
    size = read_one(jit, copy, from, there, (size_t)(to - from));
    if (jr_source_read(&origin->source, said, size,
                       text->code_offset + (from - piece->start)) < size ||
        size < LEAST)
        return 0;
    for (size_t i = 0; i < size; i++)
        same += said[i] == there[i];
    return same < size / 2;
}

int jr_jit_differs(const struct jr_jit *jit, const struct jr_jit_text *text,
                   uint64_t address, uint64_t time_ns,
                   struct jr_jit_span *span)
{
    const struct jr_jit_piece *piece = text->piece;
    const struct jr_map *map = jit->map;
    uint64_t good_ns = 0, bad_ns = UINT64_MAX;

    for (size_t i = 0; map && i < map->ncopies; i++) {
        const struct jr_code_copy *copy = &map->copies[i];

        if (address < copy->start || address >= copy->end ||
            strchr(copy->saved, '/') || copy->time_ns >= piece->until_ns ||
            copy->time_ns < piece->from_ns || bad_ns != UINT64_MAX)
            continue;
        if (is_other(jit, text, copy, address))
            bad_ns = copy->time_ns;
        else
            good_ns = copy->time_ns;
    }
    if (bad_ns == UINT64_MAX)
        return 0;
    if (time_ns <= good_ns) {
        if (span->until_ns > good_ns + 1)
            span->until_ns = good_ns + 1;
        return 0;
    }
    if (span->from_ns < good_ns + 1)
        span->from_ns = good_ns + 1;
    return 1;
}

/* Reads up to `room` bytes at `address` from a copy of memory that the map
 * names, the first one of the piece's time, else one from before it was
 * described; 0: none has it. */
static size_t read_copy(const struct jr_jit *jit,
                        const struct jr_jit_piece *piece, uint64_t address,
                        uint8_t *into, size_t room)
{
    const struct jr_map *map = jit->map;
    size_t got = 0;

    for (int early = 0; map && early < 2; early++) {
        for (size_t i = 0; i < map->ncopies && got == 0; i++) {
            const struct jr_code_copy *copy = &map->copies[i];

            if (address >= copy->start && address < copy->end &&
                !strchr(copy->saved, '/') &&
                (early ? is_early(jit, copy, piece, address)
                       : is_within(copy, piece)))
                got = read_one(jit, copy, address, into, room);
        }
    }
    return got;
}

size_t jr_jit_bytes(const struct jr_jit *jit, const struct jr_jit_text *text,
                    uint8_t *into, size_t room)
{
    const struct jr_jit_piece *piece = text->piece;
    const struct jr_jit_origin *origin = jit->files[piece->file];
    size_t done = 0, got;

    if (room > piece->size)
        room = piece->size;
    if (origin->is_dump)
        return jr_source_read(&origin->source, into, room, text->code_offset);
    do {
        got = read_copy(jit, piece, piece->start + done, into + done,
                        room - done);
        done += got;
    } while (got && done < room);
    return done;
}
