/* SPDX-License-Identifier: MIT
 *
 * Demangles through libiberty, within bounds: a symbol can hold references
 * that double its name at each step, so the output is counted while it is
 * made and the work is left when there is too much of it.
 * Runs in: analyzer. */
#include "demangle.h"

#include <setjmp.h>
#include <string.h>

/* Where binutils' packages put it: Debian, Arch, Alpine; Fedora. */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#include "base/mem.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

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

    if (length > sizeof output->text - output->used)
        longjmp(output->too_long, 1);
    /* libiberty tells of nothing with a null pointer ("_RC0"). */
    if (length > 0)
        memcpy(output->text + output->used, text, length);
    output->used += length;
}

static char *try_one(demangler *demangle, const char *symbol)
{
    struct output output;

    output.used = 0;
    if (setjmp(output.too_long))
        return NULL;
    if (!demangle(symbol, OPTIONS, append, &output) || output.used == 0)
        return NULL;
    return jr_strndup(output.text, output.used);
}

char *jr_demangle(const char *symbol)
{
    char *name;

    if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R') ||
        strnlen(symbol, JR_DEMANGLE_IN_MAX + 1) > JR_DEMANGLE_IN_MAX)
        return NULL;
    /* Rust's legacy symbols are C++ symbols too; its reader drops the hash. */
    name = try_one(rust_demangle_callback, symbol);
    if (!name && symbol[1] == 'Z')
        name = try_one(cplus_demangle_v3_callback, symbol);
    return name;
}
