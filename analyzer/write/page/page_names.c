/* SPDX-License-Identifier: MIT
 *
 * Names of functions with marks around what their short forms leave out; no
 * name has these characters, as jr_put_text writes none.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "page.h"
#include "write/escape.h"

/* Bytes of a name at most. */
#define NAME_MOST 20000
#define ELLIPSIS "\xe2\x80\xa6"

#define LEFT_OUT "\x01" /* what follows is left out, */
#define DOTS "\x02"     /* or an ellipsis stands for it, */
#define END "\x03"      /* up to here */

static void put_part(FILE *out, const char *name, size_t from, size_t to)
{
    char *part;

    if (from >= to)
        return;
    part = jr_strndup(name + from, to - from);
    jr_put_text(out, part);
    free(part);
}

void jr_page_name(FILE *out, const char *name, struct jr_short *found)
{
    const size_t whole = strnlen(name, NAME_MOST + 1);
    const size_t length =
        whole > NAME_MOST ? jr_utf8_cut(name, NAME_MOST) : whole;
    size_t at = 0;

    jr_short_find(found, name);
    for (size_t i = 0; i < found->ncuts && found->cuts[i].from < length; i++) {
        const struct jr_cut *cut = &found->cuts[i];
        const size_t end = cut->to < length ? cut->to : length;

        put_part(out, name, at, cut->from);
        fputs(cut->dots ? DOTS : LEFT_OUT, out);
        put_part(out, name, cut->from, end);
        fputs(END, out);
        at = end;
    }
    put_part(out, name, at, length);
    if (length < whole)
        fputs(ELLIPSIS, out);
}
