/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the rules for names of JIT code, a name a line.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/names/demangle.h"
#include "symbol/names/short.h"
#include "symbol/jit/jit_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The parts that a short form leaves out are in order and apart. */
static void check_short(const char *name, size_t length)
{
    struct jr_short found = {0};
    char *form = jr_short_name(name);

    jr_short_find(&found, name);
    for (size_t i = 0; i < found.ncuts; i++)
        if (found.cuts[i].from >= found.cuts[i].to ||
            found.cuts[i].to > length ||
            (i > 0 && found.cuts[i].from <= found.cuts[i - 1].to))
            abort();
    if (!form[0] != !length || (found.ncuts == 0 && strcmp(form, name) != 0))
        abort();
    jr_short_free(&found);
    free(form);
}

static void check_name(struct jr_strings *strings, const char *raw,
                       size_t length)
{
    struct jr_jit_name name = {0};
    struct jr_frame frame;
    char *text = jr_strndup(raw, length);

    length = strlen(text);
    check_short(text, length);
    if (jr_jit_name_read(text, length, &name)) {
        if (name.length == 0 || strlen(name.text) != name.length ||
            name.length > 9 * length + JR_DEMANGLE_OUT_MAX)
            abort();
        if (name.is_kind && !name.tier)
            abort();
    }
    free(name.text);
    jr_jit_name_frame(strings, raw, length, &frame);
    if (!frame.name[0] != !length || strlen(frame.raw) != length ||
        jr_strings_frame_of(strings, &frame) !=
            jr_strings_frame_of(strings, &frame))
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct jr_strings *strings;
    static unsigned used;
    const char *at = (const char *)data, *end = at + size;

    /* Made anew now and then: once for each input would cost more than what
     * is tested here. */
    if (!strings)
        strings = jr_strings_new();
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);

        check_name(strings, at, length);
        at += length + 1;
    }
    if (++used % 256 == 0) {
        jr_strings_free(strings);
        strings = NULL;
    }
    return 0;
}
