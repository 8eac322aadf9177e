/* SPDX-License-Identifier: MIT
 *
 * The bytes of JIT code: a jitdump's, or copies that were made of the memory;
 * and whether the two are of the same code.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "jit.h"

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
    char *path = *jit->log_dir ? jr_printf("%s/%s", jit->log_dir, copy->saved)
                               : jr_strdup(copy->saved);
    int fd = jr_file_open(path, &info, &why);

    free(path);
    if (fd < 0)
        return 0;
    if (room > copy->end - address)
        room = (size_t)(copy->end - address);
    got = jr_file_pread(fd, into, room, copy->offset + (address - copy->start));
    close(fd);
    return got;
}

#define PAGE 4096U
#define LEAST 16U /* bytes that tell code from other code */

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
                   uint64_t address, uint64_t time_ns, struct jr_jit_span *span)
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
