/* SPDX-License-Identifier: MIT
 *
 * Lines of a map, their %XX escapes undone.
 * Runs in: analyzer. */
#include "line.h"

#include <string.h>

#include "base/mem.h"

static int digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return 16;
}

int jr_parse_number(const char *text, size_t length, unsigned base,
                    uint64_t *number)
{
    *number = 0;
    if (length == 0)
        return -1;
    for (size_t i = 0; i < length; i++) {
        unsigned value = (unsigned)digit(text[i]);

        if (value >= base || __builtin_mul_overflow(*number, base, number) ||
            __builtin_add_overflow(*number, value, number))
            return -1;
    }
    return 0;
}

/* Undoes the escapes of the NUL-terminated `value` in place; returns its new
 * length, or -1 for a % without two digits behind it. */
static long unescape(char *value)
{
    char *to = value;

    for (const char *from = value; *from; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        if (digit(from[1]) > 15 || digit(from[2]) > 15)
            return -1;
        *to++ = (char)(digit(from[1]) * 16 + digit(from[2]));
        from += 2;
    }
    *to = '\0';
    return to - value;
}

static int add_pair(struct jr_line *line, char *word)
{
    char *equals = strchr(word, '=');
    struct jr_line_pair *pair;
    long length;

    if (!equals || equals == word)
        return -1;
    *equals = '\0';
    length = unescape(equals + 1);
    if (length < 0)
        return -1;
    if (line->npairs == JR_LINE_PAIRS)
        return 0;
    pair = &line->pairs[line->npairs++];
    pair->key = word;
    pair->value = equals + 1;
    pair->length = (size_t)length;
    return 0;
}

int jr_line_parse(struct jr_line *line, const char *text, size_t length)
{
    char *rest = line->text, *time, *word;

    line->npairs = 0;
    if (length >= JP_MAP_LINE_MAX || memchr(text, '\0', length))
        return -1;
    memcpy(line->text, text, length);
    line->text[length] = '\0';
    time = strsep(&rest, " ");
    line->event = strsep(&rest, " ");
    if (jr_parse_number(time, strlen(time), 10, &line->time_ns) < 0 ||
        !line->event || !*line->event)
        return -1;
    while ((word = strsep(&rest, " "))) {
        if (*word && add_pair(line, word) < 0)
            return -1;
    }
    return 0;
}

const struct jr_line_pair *jr_line_find(const struct jr_line *line,
                                        const char *key)
{
    for (size_t i = 0; i < line->npairs; i++) {
        if (!strcmp(line->pairs[i].key, key))
            return &line->pairs[i];
    }
    return NULL;
}

int jr_line_number(const struct jr_line *line, const char *key, unsigned base,
                   uint64_t *number)
{
    const struct jr_line_pair *pair = jr_line_find(line, key);

    if (!pair)
        return -1;
    return jr_parse_number(pair->value, pair->length, base, number);
}

char *jr_line_text(const struct jr_line *line, const char *key)
{
    const struct jr_line_pair *pair = jr_line_find(line, key);

    return pair ? jr_strndup(pair->value, pair->length) : NULL;
}
