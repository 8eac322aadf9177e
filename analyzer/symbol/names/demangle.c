/* SPDX-License-Identifier: MIT
 *
 * Demangles through libiberty, within bounds: a symbol can hold references
 * that double its name at each step, so the output is counted while it is
 * made and the work is left, and the name cut, when there is too much of it.
 * Runs in: analyzer. */
#include "demangle.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where binutils' packages put it: Debian, Arch, Alpine; Fedora. */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#include "base/index.h"
#include "base/mem.h"
#include "demangle_pascal.h"
#include "demangle_table.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)
#define D_WORK_MAX                                                             \
    65536U /* characters of a D symbol that are read, some of
                             them many times; about ten of output for each */

typedef int demangler(const char *symbol, int options,
                      demangle_callbackref callback, void *opaque);

struct output {
    jmp_buf too_long;
    size_t used;
    char text[JR_DEMANGLE_OUT_MAX];
};

static void append(const char *text, size_t length, void *opaque)
{
    struct output *output = opaque;
    const size_t room = sizeof output->text - output->used;

    if (length > room) {
        memcpy(output->text + output->used, text, room);
        longjmp(output->too_long, 1);
    }
    /* libiberty tells of nothing with a null pointer ("_RC0"). */
    if (length > 0)
        memcpy(output->text + output->used, text, length);
    output->used += length;
}

/* An ellipsis and a number that tells names apart of which only the start is
 * shown: a hash of the symbol. */
static char *with_ellipsis(const char *start, size_t length, const char *symbol)
{
    return jr_printf("%.*s\xe2\x80\xa6#%08" PRIx32, (int)length, start,
                     jr_hash_text(symbol, strlen(symbol)));
}

/* The first `room` bytes of a name that is longer, or fewer, so that they end
 * with a whole character. */
static char *cut(const char *text, size_t room, const char *symbol)
{
    size_t length = room;

    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
        length--;
    if (length > 0 && length < room)
        length--;
    return with_ellipsis(text, length, symbol);
}

static char *try_one(demangler *demangle, const char *symbol, int options)
{
    struct output output;

    output.used = 0;
    if (setjmp(output.too_long))
        return cut(output.text, sizeof output.text, symbol);
    if (!demangle(symbol, options, append, &output) || output.used == 0)
        return NULL;
    return jr_strndup(output.text, output.used);
}

/* How far back a D symbol's reference leads whose `Q` is before `at`: a number
 * of the base 26, the last digit a small letter (The D ABI, "Back References").
 * 0: it is none. */
static size_t d_distance(const char *at)
{
    size_t distance = 0;

    for (; *at >= 'A' && *at <= 'Z' && distance < JR_DEMANGLE_IN_MAX; at++)
        distance = distance * 26 + (size_t)(*at - 'A');
    return *at >= 'a' && *at <= 'z' ? distance * 26 + (size_t)(*at - 'a') : 0;
}

/* Returns how many characters at most libiberty reads again for the D back
 * reference at `at` to `target`, of which is known that it ends before `at`.
 * nested: what the references between the two cost. */
static uint64_t d_work(const char *target, const char *at, uint64_t nested)
{
    if (*target >= '0' && *target <= '9')
        return (uint64_t)strtoul(target, NULL, 10) + 4;
    if (*target >= 'a' && *target <= 'w')
        return 1;
    return (uint64_t)(at - target) + nested;
}

/* Whether a D symbol, of JR_DEMANGLE_IN_MAX characters at most, stays small.
 * Its references can double its name as well, and libiberty makes it whole. */
static int is_small_d(const char *symbol)
{
    /* What the references before each place have it read. */
    uint64_t sums[JR_DEMANGLE_IN_MAX + 2];

    sums[0] = 0;
    for (size_t i = 0; symbol[i]; i++) {
        const size_t back = symbol[i] == 'Q' ? d_distance(symbol + i + 1) : 0;

        sums[i + 1] = sums[i];
        if (back > 0 && back <= i)
            sums[i + 1] +=
                d_work(symbol + i - back, symbol + i, sums[i] - sums[i - back]);
        if (sums[i + 1] > D_WORK_MAX)
            return 0;
    }
    return 1;
}

/* What a D symbol that corrects `this` by an offset calls, whose symbol follows
 * the offset: `_DTi16_D...` (gcc/d/decl.cc, make_thunk).  Other symbols are
 * returned as they are. */
static const char *called_by_thunk(const char *symbol)
{
    static const char begin[] = "_DTi";
    const char *target;

    if (strncmp(symbol, begin, sizeof begin - 1) != 0)
        return symbol;
    target = symbol + sizeof begin - 1;
    target += strspn(target, "0123456789");
    return strncmp(target, "_D", 2) == 0 ? target : symbol;
}

static char *read_d(const char *symbol, size_t length)
{
    const char *target = called_by_thunk(symbol);
    char *bare = jr_strndup(target, length - (size_t)(target - symbol));
    char *made = is_small_d(bare) ? dlang_demangle(bare, OPTIONS) : NULL;
    char *name = NULL;

    free(bare);
    if (made)
        name = jr_printf("%s%s",
                         target == symbol ? "" : "non-virtual thunk to ", made);
    free(made);
    return name;
}

/* A clone's mark and a thunk are shown as those of C++ are. */
static char *try_d(const char *symbol)
{
    const char *clone = strchr(symbol, '.');
    char *made =
        read_d(symbol, clone ? (size_t)(clone - symbol) : strlen(symbol));
    char *name;

    if (!made)
        return NULL;
    if (strlen(made) > JR_DEMANGLE_OUT_MAX)
        name = cut(made, JR_DEMANGLE_OUT_MAX, symbol);
    else if (clone)
        name = jr_printf("%s [clone %s]", made, clone);
    else
        name = jr_strdup(made);
    free(made);
    return name;
}

/* Of a C++ symbol that libiberty cannot read, which the arguments of a template
 * are to blame for, the names before them: `a::f`.  NULL: it does not begin
 * so.  <nested-name> of the Itanium C++ ABI, 5.1.2. */
static char *leading_names(const char *symbol)
{
    static const char unnamed[] = "_GLOBAL__N_1";
    const char *at = symbol + sizeof "_ZN" - 1;
    char *names = NULL;

    if (strncmp(symbol, "_ZN", sizeof "_ZN" - 1) != 0)
        return NULL;
    at += strspn(at, "rVKRO"); /* qualifiers of a member function */
    while (*at >= '1' && *at <= '9') {
        char *name;
        const unsigned long length = strtoul(at, &name, 10);
        const int is_unnamed =
            length == sizeof unnamed - 1 && strncmp(name, unnamed, length) == 0;
        char *longer;

        if (length > strlen(name)) {
            free(names);
            return NULL;
        }
        longer = jr_printf("%s%s%.*s", names ? names : "", names ? "::" : "",
                           is_unnamed ? (int)sizeof "(anonymous namespace)" - 1
                                      : (int)length,
                           is_unnamed ? "(anonymous namespace)" : name);
        free(names);
        names = longer;
        at = name + length;
    }
    if (names && *at == 'I')
        return names;
    free(names);
    return NULL;
}

static char *without_arguments(const char *symbol)
{
    char *names = leading_names(symbol);
    char *name = names ? jr_printf("%s<\xe2\x80\xa6>", names) : NULL;

    free(names);
    return name;
}

/* Symbols of run-time systems that code of the language cannot do without, be
 * they in the module itself or in a library (seen in what OCaml 4.13 and GHC
 * 9.0 make, programs, plug-ins and libraries). */
static const struct {
    const char *symbol;
    unsigned language;
} runtimes[] = {
    {"caml_call_gc", JR_OCAML},
    {"caml_startup", JR_OCAML},
    {"caml_plugin_header", JR_OCAML},
    {"hs_main", JR_HASKELL},
    {"stg_upd_frame_info", JR_HASKELL},
    {"adainit", JR_ADA},
    {"ada__exceptions__raise_exception", JR_ADA},
};

unsigned jr_demangle_languages(const char *symbol)
{
    /* Most symbols are told by a look at their first letter. */
    if (symbol[0] != 'c' && symbol[0] != 'h' && symbol[0] != 's' &&
        symbol[0] != 'a')
        return 0;
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (strcmp(symbol, runtimes[i].symbol) == 0)
            return runtimes[i].language;
    return 0;
}

/* GNAT writes packages, the routines in them and operators with two underscores
 * between (gcc/ada/exp_dbug.ads), and "_ada_" in front of a routine in no
 * package.  libiberty puts what it cannot read in angle brackets. */
static char *try_ada(const char *symbol)
{
    char *made = NULL, *name = NULL;

    if (strncmp(symbol, "_ada_", 5) == 0 ||
        (symbol[0] != '_' && strstr(symbol, "__")))
        made = ada_demangle(symbol, OPTIONS);
    if (made && made[0] != '<')
        name = jr_strdup(made);
    free(made);
    return name;
}

/* Of a symbol that is too long to be read: the names that it begins with, or
 * its start. */
static char *shorten(const char *symbol)
{
    char *start = jr_strndup(symbol, JR_DEMANGLE_IN_MAX);
    char *names = leading_names(start), *name;

    free(start);
    if (!names)
        return cut(symbol, JR_DEMANGLE_OUT_MAX, symbol);
    name = with_ellipsis(names, strlen(names), symbol);
    free(names);
    return name;
}

char *jr_demangle(const char *symbol, unsigned languages)
{
    char *name = NULL;

    if (strnlen(symbol, JR_DEMANGLE_IN_MAX + 1) > JR_DEMANGLE_IN_MAX)
        return shorten(symbol);
    if (languages & JR_ADA)
        name = try_ada(symbol);
    if (name)
        return name;
    if (symbol[0] != '_') {
        if (languages & JR_OCAML)
            name = jr_demangle_ocaml(symbol);
        if (!name && (languages & JR_HASKELL))
            name = jr_demangle_haskell(symbol);
        return name ? name : jr_demangle_pascal(symbol);
    }
    /* Rust's legacy symbols are C++ symbols too; its reader drops the hash. */
    if (symbol[1] == 'R' || symbol[1] == 'Z')
        name = try_one(rust_demangle_callback, symbol, OPTIONS);
    /* libiberty's own limit is one of length; its depth is bounded by what is
     * read here, and where it prints by itself. */
    if (!name && symbol[1] == 'Z')
        name = try_one(cplus_demangle_v3_callback, symbol,
                       OPTIONS | DMGL_NO_RECURSE_LIMIT);
    if (!name)
        name = without_arguments(symbol);
    if (!name && symbol[1] == 'D')
        name = try_d(symbol);
    return name;
}

/* Skips digits behind `mark` at *at, at least one. */
static int skip_number(const char *symbol, size_t length, size_t *at, char mark)
{
    size_t end = *at + 1;

    if (*at >= length || symbol[*at] != mark)
        return 0;
    while (end < length && symbol[end] >= '0' && symbol[end] <= '9')
        end++;
    if (end == *at + 1)
        return 0;
    *at = end;
    return 1;
}

/* Returns whether what is at `at` up to the end is such marks: GCC's
 * clone_function_name (gcc/cgraphclones.cc), LLVM's ".cold" (HotColdSplitting,
 * MachineFunctionSplitter), BOLT's ".cold.0", its number of a local function
 * of a name, "/1", and ".org.0", a function's code before it was moved
 * (RewriteInstance::updateELFSymbolTable, which always writes the number). */
static int is_marks(const char *symbol, size_t length, size_t at)
{
    static const char *const kinds[] = {".cold", ".part", ".constprop", ".isra",
                                        ".org.0"};
    const size_t from = at;

    while (at < length && symbol[at] == '.') {
        size_t i, skip = 0;

        for (i = 0; i < sizeof kinds / sizeof *kinds && skip == 0; i++)
            if (strlen(kinds[i]) <= length - at &&
                strncmp(symbol + at, kinds[i], strlen(kinds[i])) == 0)
                skip = strlen(kinds[i]);
        if (skip == 0)
            return 0;
        at += skip;
        while (skip_number(symbol, length, &at, '.'))
            ;
    }
    if (at > from)
        skip_number(symbol, length, &at, '/');
    return at > from && at == length;
}

size_t jr_symbol_part(const char *symbol, size_t length)
{
    for (size_t at = 1; at < length; at++)
        if (symbol[at] == '.' && is_marks(symbol, length, at))
            return at;
    return length;
}
