/* SPDX-License-Identifier: MIT
 *
 * Escapes to characters, by tables.
 * Runs in: analyzer. */
#include "demangle_table.h"

#include <ctype.h>
#include <stdio.h>
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

#define TUPLE_MAX 64  /* GHC has no larger ones */
#define TUPLE_LEAST 4 /* characters of the code of the largest */

/* Reads the code of a tuple, "Z2T" or, of unboxed values, "Z2H".  Returns where
 * it ends, NULL: it is none; moves *to behind what it stands for. */
static const char *decode_tuple(char **to, const char *from, const char *end)
{
    size_t count = 0;
    int is_unboxed;

    for (from++; from < end && isdigit((unsigned char)*from); from++)
        count = count > TUPLE_MAX ? count : count * 10 + (size_t)(*from - '0');
    if (from == end || (*from != 'T' && *from != 'H') || count > TUPLE_MAX)
        return NULL;
    is_unboxed = *from == 'H';
    *to += sprintf(*to, "%s", is_unboxed ? "(#" : "(");
    for (; count > 1; count--)
        *(*to)++ = ',';
    *to += sprintf(*to, "%s", is_unboxed ? "#)" : ")");
    return from + 1;
}

/* The same of the code of a character without one, "z2cU"; other than ASCII it
 * is left. */
static const char *decode_number(char **to, const char *from, const char *end)
{
    unsigned value = 0;

    for (from++; from < end && digit(*from) >= 0 && value < 0x80; from++)
        value = value << 4 | (unsigned)digit(*from);
    if (from == end || *from != 'U' || value >= 0x80 || !isprint((int)value))
        return NULL;
    *(*to)++ = (char)value;
    return from + 1;
}

/* The same of a code of two letters. */
static const char *decode_letters(char **to, const char *from, const char *end)
{
    for (size_t i = 0; i < sizeof z_codes / sizeof *z_codes; i++)
        if (end - from >= 2 && strncmp(z_codes[i].code, from, 2) == 0) {
            *(*to)++ = z_codes[i].character;
            return from + 2;
        }
    return NULL;
}

/* Writes a part of a symbol, of which each `z` begins a code.  Returns where it
 * ends, or NULL for a code that is none. */
static char *decode(char *to, const char *from, size_t length)
{
    const char *end = from + length;

    while (from && from < end) {
        const int is_number = end - from > 1 && isdigit((unsigned char)from[1]);

        if (*from != 'z' && *from != 'Z')
            *to++ = *from++;
        else if (is_number)
            from = *from == 'Z' ? decode_tuple(&to, from, end)
                                : decode_number(&to, from, end);
        else
            from = decode_letters(&to, from, end);
    }
    return from ? to : NULL;
}

/* A part of a symbol. */
struct part {
    const char *start;
    size_t length;
};

/* Whether a name without a package, which the package "main" leaves out, is
 * Haskell's: C has names with one underscore, too. */
static int is_of_main(const struct part *module, const struct part *function)
{
    static const char alone[] = "Main", wrapper[] = "ZC", local[] = "zd";
    const char *dot = memmem(module->start, module->length, "zi", 2);

    return (module->length == sizeof alone - 1 &&
            memcmp(module->start, alone, module->length) == 0) ||
           strncmp(module->start, wrapper, sizeof wrapper - 1) == 0 ||
           (dot && isupper((unsigned char)dot[2])) ||
           strncmp(function->start, local, sizeof local - 1) == 0;
}

/* Takes a symbol apart; what is not there stays empty.  Returns 0, or -1. */
static int split_haskell(const char *symbol, struct part parts[3])
{
    static const char *const endings[] = {"_con_info", "_info"};
    size_t length = strlen(symbol), count = 1;

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t tail = strlen(endings[i]);

        if (length > tail && strcmp(symbol + length - tail, endings[i]) == 0) {
            length -= tail;
            break;
        }
    }
    if (!symbol[length])
        return -1;
    parts[0] = (struct part){symbol, length};
    for (const char *at = symbol; at < symbol + length; at++)
        if (*at == '_') {
            if (count == 3)
                return -1;
            parts[count - 1].length = (size_t)(at - parts[count - 1].start);
            parts[count++] =
                (struct part){at + 1, (size_t)(symbol + length - (at + 1))};
        }
    if (count == 2) {
        parts[2] = parts[1];
        parts[1] = parts[0];
        parts[0].length = 0;
    }
    return count == 1 || parts[1].length == 0 || parts[2].length == 0 ||
                   (count == 3 && parts[0].length == 0) ||
                   !isupper((unsigned char)parts[1].start[0]) ||
                   (count == 2 && !is_of_main(&parts[1], &parts[2]))
               ? -1
               : 0;
}

char *jr_demangle_haskell(const char *symbol)
{
    static const char behind[] = ":.";
    struct part parts[3];
    char *name, *to;

    if (split_haskell(symbol, parts) != 0)
        return NULL;
    name = to = jr_alloc(strlen(symbol) * (TUPLE_MAX / TUPLE_LEAST + 2) + 1, 1);
    for (size_t i = 0; i < 3 && to; i++) {
        to = decode(to, parts[i].start, parts[i].length);
        if (to && i < 2 && parts[i].length)
            *to++ = behind[i];
    }
    if (to)
        return name;
    free(name);
    return NULL;
}
