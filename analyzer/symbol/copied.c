/* SPDX-License-Identifier: MIT
 *
 * Compares kept pages of memory without a file with the text of the files that
 * the process had mapped.
 * Runs in: analyzer. */
#include "copied.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define PAGE 4096U
#define NEEDLE 64U              /* bytes that are looked for first */
#define PIECE (1U << 20)        /* bytes of a file read at a time */
#define SEARCHES 4U             /* pages looked for, of one mapping */
#define SEARCHED (512ULL << 20) /* bytes read for searches, of one process */
#define CHANGES 1024U           /* of a page: bytes unlike the one before */
#define MAPPINGS 4096U          /* of the process, that are looked at */

/* Reads `size` bytes of a file from `offset` on.  Returns how many it has. */
static size_t read_at(const char *path, uint64_t offset, uint8_t *into,
                      size_t size)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);
    size_t got;

    if (fd < 0)
        return 0;
    got = jr_file_pread(fd, into, size, offset);
    close(fd);
    return got;
}

/* Reads the page at `start` as memory had it in the mapping's life.  Returns
 * whether it was kept. */
static int read_page(const struct jr_map *map, const char *log_dir,
                     const struct jr_mapping *mapping, uint64_t start,
                     uint8_t *page)
{
    for (size_t i = 0; i < map->ncopies; i++) {
        const struct jr_code_copy *copy = &map->copies[i];
        size_t got;
        char *path;

        if (start < copy->start || start + PAGE > copy->end ||
            copy->time_ns < mapping->from_ns ||
            copy->time_ns >= mapping->until_ns || strchr(copy->saved, '/'))
            continue;
        path = *log_dir ? jr_printf("%s/%s", log_dir, copy->saved)
                        : jr_strdup(copy->saved);
        got = read_at(path, copy->offset + (start - copy->start), page, PAGE);
        free(path);
        return got == PAGE;
    }
    return 0;
}

/* Whether a page is not for the most part a fill, which files have as well. */
static int is_telling(const uint8_t *page)
{
    size_t changes = 0;

    for (size_t i = 1; i < PAGE; i++)
        changes += page[i] != page[i - 1];
    return changes >= CHANGES;
}

static int is_text(const struct jr_mapping *mapping)
{
    return !mapping->anonymous && mapping->path[0] == '/' && !mapping->deleted;
}

/* Whether the file of an earlier mapping had the same text. */
static int was_searched(const struct jr_map *map, size_t index)
{
    const struct jr_mapping *mapping = &map->mappings.items[index];

    for (size_t i = 0; i < index; i++) {
        const struct jr_mapping *other = &map->mappings.items[i];

        if (is_text(other) && other->offset <= mapping->offset &&
            other->offset + (other->end - other->start) >=
                mapping->offset + (mapping->end - mapping->start) &&
            !strcmp(other->path, mapping->path))
            return 1;
    }
    return 0;
}

/* Looks for a page in `size` bytes of text.  Returns its place; NULL: none. */
static const uint8_t *find_in(const uint8_t *text, size_t size,
                              const uint8_t *page)
{
    const uint8_t *end = text + size;

    while ((size_t)(end - text) >= PAGE) {
        const uint8_t *found =
            memmem(text, (size_t)(end - text) - PAGE + NEEDLE, page, NEEDLE);

        if (!found)
            return NULL;
        if (!memcmp(found, page, PAGE))
            return found;
        text = found + 1;
    }
    return NULL;
}

/* Looks for a page in the text of one mapping.  Returns its offset in the
 * mapping; UINT64_MAX: none. */
static uint64_t search_one(struct jr_copied *copied,
                           const struct jr_mapping *mapping,
                           const uint8_t *page, uint8_t *text)
{
    const uint64_t size = mapping->end - mapping->start;
    uint64_t result = UINT64_MAX;
    struct stat info;
    const char *why;
    int fd = jr_file_open(mapping->path, &info, &why);

    if (fd < 0)
        return result;
    for (uint64_t at = 0; at < size && copied->searched < SEARCHED;
         at += PIECE) {
        const uint64_t left = size - at;
        const size_t want = left < PIECE + PAGE ? (size_t)left : PIECE + PAGE;
        const size_t got = jr_file_pread(fd, text, want, mapping->offset + at);
        const uint8_t *found = find_in(text, got, page);

        copied->searched += got;
        if (found) {
            result = at + (uint64_t)(found - text);
            break;
        }
        if (got < want)
            break;
    }
    close(fd);
    return result;
}

static void search(struct jr_copied *copied, const struct jr_map *map,
                   struct jr_copied_range *range, uint64_t start,
                   const uint8_t *page)
{
    const size_t count =
        map->mappings.count < MAPPINGS ? map->mappings.count : MAPPINGS;
    uint8_t *text = jr_alloc(PIECE + PAGE, 1);

    for (size_t i = 0; i < count && !range->source; i++) {
        const struct jr_mapping *source = &map->mappings.items[i];
        uint64_t at;

        if (copied->searched >= SEARCHED)
            break;
        if (!is_text(source) || was_searched(map, i))
            continue;
        at = search_one(copied, source, page, text);
        if (at == UINT64_MAX)
            continue;
        range->source = source;
        range->shift = source->start + at - start;
        range->low = range->high = start;
    }
    free(text);
}

/* Whether the file has the same page. */
static int is_same(const struct jr_copied_range *range, uint64_t start,
                   const uint8_t *page)
{
    const struct jr_mapping *source = range->source;
    const uint64_t there = start + range->shift;
    uint8_t text[PAGE];

    return there >= source->start && there + PAGE <= source->end &&
           read_at(source->path, source->offset + (there - source->start), text,
                   PAGE) == PAGE &&
           !memcmp(text, page, PAGE);
}

static struct jr_copied_range *range_of(struct jr_copied *copied,
                                        const struct jr_mapping *mapping)
{
    struct jr_copied_range *range;

    for (size_t i = 0; i < copied->count; i++) {
        if (copied->ranges[i].mapping == mapping)
            return &copied->ranges[i];
    }
    range = JR_PUSH(copied->ranges, copied->count, copied->room);
    *range = (struct jr_copied_range){.mapping = mapping};
    return range;
}

#define RANGES 256U /* mappings looked at */

const struct jr_mapping *jr_copied_find(struct jr_copied *copied,
                                        const struct jr_map *map,
                                        const char *log_dir,
                                        const struct jr_mapping *mapping,
                                        uint64_t address, uint64_t *at)
{
    const uint64_t start = address & ~(uint64_t)(PAGE - 1);
    struct jr_copied_range *range;
    uint8_t page[PAGE];

    /* No file that an archive's map names is opened. */
    if (map->packed || map->ncopies == 0 || copied->count >= RANGES)
        return NULL;
    range = range_of(copied, mapping);
    if (!range->source && range->searches >= SEARCHES)
        return NULL;
    if (!read_page(map, log_dir, mapping, start, page)) {
        if (!range->source || start < range->low || start > range->high)
            return NULL;
    } else if (!range->source) {
        if (!is_telling(page))
            return NULL;
        range->searches++;
        search(copied, map, range, start, page);
        if (!range->source)
            return NULL;
    } else if (is_same(range, start, page)) {
        range->low = start < range->low ? start : range->low;
        range->high = start > range->high ? start : range->high;
    } else {
        return NULL;
    }
    *at = address + range->shift;
    return range->source;
}

void jr_copied_free(struct jr_copied *copied)
{
    free(copied->ranges);
    *copied = (struct jr_copied){0};
}
