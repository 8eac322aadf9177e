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

#define FIRST_SLOTS 256

/* What was read so far, by piece. */
struct jr_jit_texts {
    struct jr_jit_text **slots;
    size_t count, used;
};

static struct jr_jit_text **slot_of(struct jr_jit_text **slots, size_t count,
                                    const struct jr_jit_piece *piece)
{
    size_t at = (size_t)(((uintptr_t)piece >> 3) * 0x9e3779b97f4a7c15ULL >>
                         20) & (count - 1);

    while (slots[at] && slots[at]->piece != piece)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

/* Doubles the slots once half are in use. */
static void make_room(struct jr_jit_texts *texts)
{
    size_t count = texts->count ? texts->count * 2 : FIRST_SLOTS;
    struct jr_jit_text **slots;

    if (texts->used * 2 < texts->count)
        return;
    slots = jr_alloc(count, sizeof *slots);
    for (size_t i = 0; i < texts->count; i++) {
        if (texts->slots[i])
            *slot_of(slots, count, texts->slots[i]->piece) = texts->slots[i];
    }
    free(texts->slots);
    texts->slots = slots;
    texts->count = count;
}

/* Takes a line table over; the code may have moved since it was loaded. */
static void take_lines(struct jr_jit_text *text, struct jr_strings *strings,
                       const struct jr_jitdump_lines *lines, uint64_t moved)
{
    text->lines = jr_alloc(lines->count, sizeof *text->lines);
    text->nlines = lines->count;
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
    struct jr_jitdump_load *load = jr_alloc(1, sizeof *load);
    struct jr_jitdump_lines lines = {0};
    int result = jr_jitdump_load(&origin->dump, piece->offset, load);

    if (result == 0) {
        text->code_offset = load->code_offset;
        text->name = jr_strings_add(strings, load->name, load->length);
        text->length = load->length;
        if (piece->back)
            jr_jitdump_lines(&origin->dump, piece->offset - piece->back, load,
                             origin->bias, &lines);
        jit->garbage += lines.garbage;
        if (lines.count)
            take_lines(text, strings, &lines, piece->start - load->start);
        jr_jitdump_lines_free(&lines);
    }
    free(load);
    return result;
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

const struct jr_jit_text *jr_jit_text(struct jr_jit *jit,
                                      struct jr_strings *strings,
                                      const struct jr_jit_piece *piece)
{
    struct jr_jit_text **slot, *text;

    if (!jit->texts)
        jit->texts = jr_alloc(1, sizeof *jit->texts);
    make_room(jit->texts);
    slot = slot_of(jit->texts->slots, jit->texts->count, piece);
    text = *slot;
    if (text)
        return text;
    text = jr_alloc(1, sizeof *text);
    text->piece = piece;
    if (!jit->files[piece->file]->is_dump) {
        read_map(jit, strings, text);
    } else if (read_dump(jit, strings, text) < 0) {
        free(text);
        return NULL;
    }
    *slot = text;
    jit->texts->used++;
    return text;
}

void jr_jit_texts_free(struct jr_jit_texts *texts)
{
    if (!texts)
        return;
    for (size_t i = 0; i < texts->count; i++) {
        if (texts->slots[i])
            free(texts->slots[i]->lines);
        free(texts->slots[i]);
    }
    free(texts->slots);
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

/* Was the copy made while the piece was there?  It may have been there before
 * it was described, as long as nothing else was. */
static int is_of_piece(const struct jr_jit *jit,
                       const struct jr_code_copy *copy,
                       const struct jr_jit_piece *piece, uint64_t address)
{
    struct jr_jit_span span = {0, UINT64_MAX};
    int late;

    return jr_jit_find(jit, address, copy->time_ns, &span, &late) == piece;
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
 * names; 0: none has it. */
static size_t read_copy(const struct jr_jit *jit,
                        const struct jr_jit_piece *piece, uint64_t address,
                        uint8_t *into, size_t room)
{
    const struct jr_map *map = jit->map;

    for (size_t i = 0; map && i < map->ncopies; i++) {
        const struct jr_code_copy *copy = &map->copies[i];
        size_t got;

        if (address < copy->start || address >= copy->end ||
            strchr(copy->saved, '/') || !is_of_piece(jit, copy, piece, address))
            continue;
        got = read_one(jit, copy, address, into, room);
        if (got)
            return got;
    }
    return 0;
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
