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
/* So many equal bytes that the record does not have are a fill: compilers
 * align code to 64 bytes at most. */
#define FILL 64U
/* V8 begins freed memory with a map, a size and a link, of 8 bytes each
 * (src/objects/free-space.h), and fills the rest. */
#define FREE_HEADER 24U

/* The part of a page that a copy has. */
struct page {
    uint64_t start;
    size_t size;
    uint8_t bytes[PAGE];
};

/* How many bytes from `at` on are equal. */
static size_t run_at(const struct page *page, size_t at)
{
    size_t end = at + 1;

    while (end < page->size && page->bytes[end] == page->bytes[at])
        end++;
    return end - at;
}

/* Is the byte at `place` in a fill, or in the header of one? */
static int is_wiped_at(const struct page *page, size_t place)
{
    size_t run;

    for (size_t at = 0; at < page->size; at += run) {
        run = run_at(page, at);
        if (run < FILL && run < page->size)
            continue;
        if (place + FREE_HEADER >= at && place < at + run)
            return 1;
    }
    return 0;
}

/* Compares a piece's record with a copy of the page around `address`, where
 * both have code.  Compilers patch their code here and there: half of it
 * stays. */
static enum jr_jit_memory compare(const struct jr_jit *jit,
                                  const struct jr_jit_text *text,
                                  const struct jr_code_copy *copy,
                                  uint64_t address)
{
    const struct jr_jit_piece *piece = text->piece;
    const struct jr_jit_origin *origin = jit->files[piece->file];
    uint64_t from = address & ~(uint64_t)(PAGE - 1);
    uint64_t to = from + PAGE < copy->end ? from + PAGE : copy->end;
    struct page page = {0};
    uint8_t said[PAGE];
    size_t size, same = 0, before;

    page.start = from > copy->start ? from : copy->start;
    page.size =
        read_one(jit, copy, page.start, page.bytes, (size_t)(to - page.start));
    from = page.start > piece->start ? page.start : piece->start;
    to = page.start + page.size;
    to = to < jr_jit_end(piece) ? to : jr_jit_end(piece);
    if (to < from + LEAST)
        return JR_MEMORY_SAME;
    size = (size_t)(to - from);
    before = (size_t)(from - page.start);
    if (jr_source_read(&origin->source, said, size,
                       text->code_offset + (from - piece->start)) < size)
        return JR_MEMORY_SAME;
    for (size_t i = 0; i < size; i++)
        same += said[i] == page.bytes[before + i];
    if (same >= size / 2)
        return JR_MEMORY_SAME;
    return is_wiped_at(&page, (size_t)(address - page.start)) ? JR_MEMORY_WIPED
                                                              : JR_MEMORY_OTHER;
}

/* Was the copy made at `address` while the piece was there? */
static int tells(const struct jr_code_copy *copy,
                 const struct jr_jit_piece *piece, uint64_t address,
                 uint64_t gone_ns)
{
    return address >= copy->start && address < copy->end &&
           !strchr(copy->saved, '/') && copy->time_ns >= piece->from_ns &&
           copy->time_ns < piece->until_ns && copy->time_ns < gone_ns;
}

enum jr_jit_memory jr_jit_memory(const struct jr_jit *jit,
                                 const struct jr_jit_text *text,
                                 uint64_t address, uint64_t time_ns,
                                 uint64_t gone_ns, struct jr_jit_span *span)
{
    const struct jr_map *map = jit->map;
    enum jr_jit_memory why = JR_MEMORY_SAME;
    uint64_t good_ns = 0;

    /* The name holds until good_ns: until the last copy that had the code, or
     * the first one after that in which it was wiped. */
    for (size_t i = 0; map && i < map->ncopies; i++) {
        const struct jr_code_copy *copy = &map->copies[i];
        enum jr_jit_memory memory;

        if (!tells(copy, text->piece, address, gone_ns))
            continue;
        memory = compare(jit, text, copy, address);
        if (memory == JR_MEMORY_SAME ||
            (memory == JR_MEMORY_WIPED && why == JR_MEMORY_SAME))
            good_ns = copy->time_ns;
        if (memory != JR_MEMORY_OTHER || why == JR_MEMORY_SAME)
            why = memory;
        if (memory == JR_MEMORY_OTHER)
            break;
    }
    if (why == JR_MEMORY_SAME)
        return why;
    if (time_ns <= good_ns) {
        if (span->until_ns > good_ns + 1)
            span->until_ns = good_ns + 1;
        return JR_MEMORY_SAME;
    }
    if (span->from_ns < good_ns + 1)
        span->from_ns = good_ns + 1;
    return why;
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
