/* SPDX-License-Identifier: MIT
 *
 * What the rules for names of JIT code are made of: finding places in a name,
 * and putting a readable one together.
 * Runs in: analyzer. */
#include "jit_slice.h"

#include <string.h>

#include "base/mem.h"

void jr_name_add(struct jr_jit_name *name, struct jr_slice slice)
{
    if (name->length + slice.length + 1 > name->room) {
        name->room = (name->length + slice.length + 1) * 2;
        name->text = jr_realloc(name->text, name->room, 1);
    }
    if (slice.length)
        memcpy(name->text + name->length, slice.text, slice.length);
    name->length += slice.length;
    name->text[name->length] = '\0';
}

void jr_name_add_text(struct jr_jit_name *name, const char *text)
{
    jr_name_add(name, (struct jr_slice){text, strlen(text)});
}

size_t jr_slice_find(struct jr_slice slice, char c)
{
    const char *found =
        slice.length ? memchr(slice.text, c, slice.length) : NULL;

    return found ? (size_t)(found - slice.text) : slice.length;
}

size_t jr_slice_find_text(struct jr_slice slice, const char *text)
{
    const char *found =
        slice.length ? memmem(slice.text, slice.length, text, strlen(text))
                     : NULL;

    return found ? (size_t)(found - slice.text) : slice.length;
}

size_t jr_slice_find_last(struct jr_slice slice, char c)
{
    const char *found =
        slice.length ? memrchr(slice.text, c, slice.length) : NULL;

    return found ? (size_t)(found - slice.text) : slice.length;
}

int jr_slice_starts(struct jr_slice slice, const char *text)
{
    size_t length = strlen(text);

    return slice.length >= length && memcmp(slice.text, text, length) == 0;
}

int jr_slice_ends(struct jr_slice slice, const char *text)
{
    size_t length = strlen(text);

    return slice.length >= length &&
           memcmp(slice.text + slice.length - length, text, length) == 0;
}

struct jr_slice jr_slice_skip(struct jr_slice slice, size_t count)
{
    return (struct jr_slice){slice.text + count, slice.length - count};
}

struct jr_slice jr_slice_head(struct jr_slice slice, size_t count)
{
    return (struct jr_slice){slice.text, count};
}

int jr_slice_is_number(struct jr_slice slice)
{
    for (size_t i = 0; i < slice.length; i++)
        if (slice.text[i] < '0' || slice.text[i] > '9')
            return 0;
    return slice.length > 0;
}

int jr_name_plain(struct jr_slice rest, struct jr_jit_name *name)
{
    jr_name_add(name, rest);
    return 1;
}
