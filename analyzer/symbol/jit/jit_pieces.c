/* SPDX-License-Identifier: MIT
 *
 * What the rules for names of JIT code are made of: finding places in a name,
 * and putting a readable one together.
 * Runs in: analyzer. */
#include <string.h>

#include "base/mem.h"
#include "jit_name_rules.h"

void jr_name_add(struct jr_jit_name *name, struct jr_piece piece)
{
    if (name->length + piece.length + 1 > name->room) {
        name->room = (name->length + piece.length + 1) * 2;
        name->text = jr_realloc(name->text, name->room, 1);
    }
    if (piece.length)
        memcpy(name->text + name->length, piece.at, piece.length);
    name->length += piece.length;
    name->text[name->length] = '\0';
}

void jr_name_add_text(struct jr_jit_name *name, const char *text)
{
    jr_name_add(name, (struct jr_piece){text, strlen(text)});
}

size_t jr_piece_find(struct jr_piece piece, char c)
{
    const char *found = piece.length ? memchr(piece.at, c, piece.length) : NULL;

    return found ? (size_t)(found - piece.at) : piece.length;
}

size_t jr_piece_find_text(struct jr_piece piece, const char *text)
{
    const char *found = piece.length
                            ? memmem(piece.at, piece.length, text, strlen(text))
                            : NULL;

    return found ? (size_t)(found - piece.at) : piece.length;
}

size_t jr_piece_find_last(struct jr_piece piece, char c)
{
    const char *found =
        piece.length ? memrchr(piece.at, c, piece.length) : NULL;

    return found ? (size_t)(found - piece.at) : piece.length;
}

int jr_piece_starts(struct jr_piece piece, const char *text)
{
    size_t length = strlen(text);

    return piece.length >= length && memcmp(piece.at, text, length) == 0;
}

int jr_piece_ends(struct jr_piece piece, const char *text)
{
    size_t length = strlen(text);

    return piece.length >= length &&
           memcmp(piece.at + piece.length - length, text, length) == 0;
}

struct jr_piece jr_piece_skip(struct jr_piece piece, size_t count)
{
    return (struct jr_piece){piece.at + count, piece.length - count};
}

struct jr_piece jr_piece_head(struct jr_piece piece, size_t count)
{
    return (struct jr_piece){piece.at, count};
}

int jr_piece_is_number(struct jr_piece piece)
{
    for (size_t i = 0; i < piece.length; i++)
        if (piece.at[i] < '0' || piece.at[i] > '9')
            return 0;
    return piece.length > 0;
}

int jr_name_plain(struct jr_piece rest, struct jr_jit_name *name)
{
    jr_name_add(name, rest);
    return 1;
}
