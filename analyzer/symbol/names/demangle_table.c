/* SPDX-License-Identifier: MIT
 *
 * Escapes to characters, by tables.
 * Runs in: analyzer. */
#include "demangle_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* OCaml's asmcomp/compilenv.ml and, from 5.3 on, utils/symbol: "__" or "."
 * between modules, "$xx" for the character with that code. */
char *jr_demangle_ocaml(const char *symbol)
{
    char *name, *to;

    if (strncmp(symbol, "caml", 4) != 0 || !isupper((unsigned char)symbol[4]))
        return NULL;
    name = to = jr_alloc(strlen(symbol), 1);
    for (const char *at = symbol + 4; *at; at++) {
        if (at[0] == '_' && at[1] == '_' && at[2] && at[2] != '_') {
            *to++ = '.';
            at++;
        } else if (at[0] == '$' && digit(at[1]) >= 0 && digit(at[2]) >= 0 &&
                   (digit(at[1]) | digit(at[2])) != 0) {
            *to++ = (char)(digit(at[1]) << 4 | digit(at[2]));
            at += 2;
        } else {
            *to++ = *at;
        }
    }
    return name;
}

/* GHC's Z-encoding (its commentary, "Symbol names"). */
static const struct {
    char code[3];
    char character;
} z_codes[] = {
    {"ZC", ':'}, {"ZL", '('}, {"ZM", '['}, {"ZN", ']'},  {"ZR", ')'},
    {"ZZ", 'Z'}, {"za", '&'}, {"zb", '|'}, {"zc", '^'},  {"zd", '$'},
    {"ze", '='}, {"zg", '>'}, {"zh", '#'}, {"zi", '.'},  {"zl", '<'},
    {"zm", '-'}, {"zn", '!'}, {"zp", '+'}, {"zq", '\''}, {"zr", '\\'},
    {"zs", '/'}, {"zt", '*'}, {"zu", '_'}, {"zv", '%'},  {"zz", 'z'}};

/* Writes a part of a symbol, of which each `z` begins a code.  Returns where it
 * ends, or NULL for a code that is none. */
static char *decode(char *to, const char *from, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        size_t code = 0;

        if (from[i] != 'z' && from[i] != 'Z') {
            *to++ = from[i];
            continue;
        }
        while (code < sizeof z_codes / sizeof *z_codes &&
               strncmp(z_codes[code].code, from + i, 2) != 0)
            code++;
        if (i + 1 >= length || code == sizeof z_codes / sizeof *z_codes)
            return NULL;
        *to++ = z_codes[code].character;
        i++;
    }
    return to;
}

char *jr_demangle_haskell(const char *symbol)
{
    static const char ending[] = "_info";
    const size_t length = strlen(symbol), tail = sizeof ending - 1;
    const char *module = strchr(symbol, '_');
    const char *function = module ? strchr(module + 1, '_') : NULL;
    const char *end = symbol + length - tail;
    char *name, *to;

    if (length <= tail || strcmp(end, ending) != 0 || !function ||
        module == symbol || !isupper((unsigned char)module[1]) ||
        function + 1 >= end ||
        memchr(function + 1, '_', (size_t)(end - function - 1)))
        return NULL;
    name = jr_alloc(length + 1, 1);
    to = decode(name, symbol, (size_t)(module - symbol));
    if (to) {
        *to++ = ':';
        to = decode(to, module + 1, (size_t)(function - module - 1));
    }
    if (to) {
        *to++ = '.';
        to = decode(to, function + 1, (size_t)(end - function - 1));
    }
    if (to)
        return name;
    free(name);
    return NULL;
}
