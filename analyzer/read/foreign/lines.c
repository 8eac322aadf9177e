/* SPDX-License-Identifier: MIT
 *
 * Lines of text, and words at their ends.
 * Runs in: analyzer. */
#include <string.h>

#include "foreign.h"

static int is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

int jr_foreign_line(struct jr_slice *text, struct jr_slice *line)
{
    const char *newline;
    size_t taken;

    if (text->length == 0)
        return 0;
    newline = memchr(text->text, '\n', text->length);
    taken = newline ? (size_t)(newline - text->text) + 1 : text->length;
    *line = (struct jr_slice){text->text, newline ? taken - 1 : taken};
    if (line->length > 0 && line->text[line->length - 1] == '\r')
        line->length--;
    text->text += taken;
    text->length -= taken;
    return 1;
}

struct jr_slice jr_foreign_trim(struct jr_slice slice)
{
    while (slice.length > 0 && is_blank(slice.text[slice.length - 1]))
        slice.length--;
    while (slice.length > 0 && is_blank(*slice.text)) {
        slice.text++;
        slice.length--;
    }
    return slice;
}

int jr_foreign_last_word(struct jr_slice *line, struct jr_slice *word)
{
    const struct jr_slice all = jr_foreign_trim(*line);
    size_t at = all.length;

    while (at > 0 && !is_blank(all.text[at - 1]))
        at--;
    if (at == 0)
        return 0;
    *word = (struct jr_slice){all.text + at, all.length - at};
    *line = jr_foreign_trim((struct jr_slice){all.text, at});
    return 1;
}

int jr_foreign_begins(struct jr_slice slice, const char *start)
{
    const size_t length = strlen(start);

    return slice.length >= length && memcmp(slice.text, start, length) == 0;
}

int jr_foreign_ends(struct jr_slice slice, const char *end)
{
    const size_t length = strlen(end);

    return slice.length >= length &&
           memcmp(slice.text + slice.length - length, end, length) == 0;
}
