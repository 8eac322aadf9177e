/* SPDX-License-Identifier: MIT
 *
 * What must be true of JIT code in time, whatever was in the files.
 * Runs in: fuzz tests. */
#ifndef JIT_CHECK_H
#define JIT_CHECK_H

#include <stdlib.h>

#include "symbol/jit/jit.h"

#define CHECKED 200U /* pieces, of which each is compared with all */

/* A piece that ever lives alone in its layer is found then; two of a jitdump
 * never live at one place at one time. */
static inline void check_piece(const struct jr_jit *jit,
                               const struct jr_jit_piece *wanted)
{
    struct jr_jit_span span = {0, UINT64_MAX};
    const struct jr_jit_piece *found;
    int late;

    if (wanted->size == 0 || wanted->void_ ||
        jr_jit_end(wanted) < wanted->start)
        abort();
    found = jr_jit_find(jit, wanted->start, wanted->from_ns, &span, &late);
    if (found ? found->start > wanted->start ||
                    jr_jit_end(found) <= wanted->start ||
                    span.from_ns > wanted->from_ns
              : wanted->from_ns < wanted->until_ns)
        abort();
    if (wanted->layer != JR_LAYER_EXACT || wanted->from_ns >= wanted->until_ns)
        return;
    if (found != wanted || late || span.until_ns <= wanted->from_ns)
        abort();
    for (size_t i = 0; i < jit->npieces && i < CHECKED; i++) {
        const struct jr_jit_piece *other = &jit->pieces[i];

        if (other != wanted && other->layer == JR_LAYER_EXACT &&
            other->from_ns < wanted->until_ns &&
            wanted->from_ns < other->until_ns &&
            other->start < jr_jit_end(wanted) &&
            wanted->start < jr_jit_end(other))
            abort();
    }
}

static inline void check_jit(struct jr_jit *jit)
{
    struct jr_strings *strings = jr_strings_new();
    uint8_t bytes[256];

    for (size_t i = 0; i < jit->npieces && i < CHECKED; i++) {
        const struct jr_jit_text *text;
        const struct jr_jit_source_line *line;

        check_piece(jit, &jit->pieces[i]);
        text = jr_jit_text(jit, strings, &jit->pieces[i]);
        if (!text)
            continue;
        line = jr_jit_line(text, jit->pieces[i].start);
        if (line && (!line->file || line->address > jit->pieces[i].start))
            abort();
        if (jr_jit_bytes(jit, text, bytes, sizeof bytes) > sizeof bytes)
            abort();
    }
    jr_strings_free(strings);
}

#endif
