/* SPDX-License-Identifier: MIT
 *
 * Reads perf maps as runtimes write them: numbers with and without 0x and
 * leading zeros, names of any bytes, half last lines.
 * Runs in: analyzer. */
#include "perfmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "line.h"

#define PERFMAP_SIZE_MAX (1ULL << 30) /* bytes */

struct cursor {
    const char *at, *end;
};

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end &&
           (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

/* Takes a hex number and the blank behind it. */
static int take_number(struct cursor *cursor, uint64_t *number)
{
    const char *from, *to;

    skip_blanks(cursor);
    from = cursor->at;
    if (cursor->end - from > 2 && from[0] == '0' &&
        (from[1] == 'x' || from[1] == 'X'))
        from += 2;
    for (to = from; to < cursor->end && *to != ' ' && *to != '\t'; to++)
        ;
    if (to == cursor->end ||
        jr_parse_number(from, (size_t)(to - from), 16, number) < 0)
        return -1;
    cursor->at = to + 1;
    return 0;
}

/* V8 names a function's bytecode `JS:~name`, `Eval:~`, `Script:~`..., and with
 * --interpreted-frames-native-stack its copy of the interpreter's trampoline
 * likewise; the tilde stands for the interpreter. */
static int is_interpreted(const char *name, size_t length)
{
    const char *colon = memchr(name, ':', length);

    if (!colon || colon == name || (size_t)(colon + 1 - name) >= length ||
        colon[1] != '~')
        return 0;
    for (const char *at = name; at < colon; at++) {
        if ((*at | 0x20) < 'a' || (*at | 0x20) > 'z')
            return 0;
    }
    return 1;
}

/* Cuts a name that is too long, not inside a UTF-8 sequence. */
static size_t cut_name(const char *name, size_t length)
{
    if (length <= JR_PERFMAP_NAME_MAX)
        return length;
    length = JR_PERFMAP_NAME_MAX;
    while (length > JR_PERFMAP_NAME_MAX - 4 &&
           ((unsigned char)name[length] & 0xc0) == 0x80)
        length--;
    return length;
}

/* Reads one line.  Returns 1 for a range, 0 for an empty one, -1 for none. */
static int parse_line(struct cursor cursor, struct jr_perfmap_line *line)
{
    uint64_t size;
    size_t length;

    if (cursor.end > cursor.at && cursor.end[-1] == '\r')
        cursor.end--;
    if (take_number(&cursor, &line->start) < 0 ||
        take_number(&cursor, &size) < 0)
        return -1;
    skip_blanks(&cursor);
    length = (size_t)(cursor.end - cursor.at);
    if (length == 0 || __builtin_add_overflow(line->start, size, &line->end))
        return -1;
    line->name = cursor.at;
    line->length = (uint32_t)cut_name(cursor.at, length);
    line->interpreted = (uint8_t)is_interpreted(line->name, line->length);
    return size != 0;
}

void jr_perfmap_parse(const uint8_t *data, size_t size,
                      struct jr_perfmap *perfmap)
{
    const char *text = (const char *)data;
    size_t at = 0;

    memset(perfmap, 0, sizeof *perfmap);
    while (at < size) {
        const char *newline = memchr(text + at, '\n', size - at);
        struct jr_perfmap_line line = {0};
        const char *end = newline ? newline : text + size;
        int found = parse_line((struct cursor){text + at, end}, &line);

        /* Half a line is normal at the end of a map that is being written. */
        if (found < 0 && newline && perfmap->malformed++ == 0)
            perfmap->first_malformed = at;
        at = newline ? (size_t)(newline - text) + 1 : size;
        line.covered_by = at;
        if (found > 0)
            *JR_PUSH(perfmap->lines, perfmap->nlines, perfmap->lines_room) =
                line;
    }
}

int jr_perfmap_read(const char *path, struct jr_perfmap *perfmap,
                    const char **why)
{
    struct jr_bytes bytes;

    memset(perfmap, 0, sizeof *perfmap);
    if (jr_file_read(path, PERFMAP_SIZE_MAX, &bytes, why) < 0)
        return -1;
    jr_file_read_for(&bytes.info);
    jr_perfmap_parse(bytes.data, bytes.size, perfmap);
    perfmap->data = bytes.data;
    return 0;
}

void jr_perfmap_free(struct jr_perfmap *perfmap)
{
    free(perfmap->lines);
    free(perfmap->data);
    memset(perfmap, 0, sizeof *perfmap);
}
