/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the readers of other tools' profiles, each by the kind that the
 * content is of, and those of text and words whatever it is.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "read/foreign/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_slice(const struct jr_slice *slice, unsigned *sum)
{
    for (size_t i = 0; i < slice->length; i++)
        *sum += (unsigned char)slice->text[i];
}

/* What a caller relies on. */
static void check(const struct jr_foreign *foreign)
{
    unsigned sum = 0;

    for (size_t i = 0; i < foreign->nframes; i++) {
        check_slice(&foreign->frames[i].name, &sum);
        check_slice(&foreign->frames[i].raw, &sum);
        check_slice(&foreign->frames[i].file, &sum);
        check_slice(&foreign->frames[i].module, &sum);
        if (foreign->frames[i].name.length == 0 &&
            !foreign->frames[i].is_unnamed)
            abort();
    }
    for (size_t i = 0; i < foreign->nplaces; i++)
        if (foreign->places[i].count == 0 ||
            foreign->places[i].count > JR_FOREIGN_LINES ||
            foreign->places[i].first + foreign->places[i].count >
                foreign->nframes)
            abort();
    for (size_t i = 0; i < foreign->nstacks; i++)
        if (foreign->stacks[i] >= foreign->nplaces)
            abort();
    for (size_t i = 0; i < foreign->nsamples; i++) {
        const struct jr_foreign_sample *sample = &foreign->samples[i];

        if (sample->first + sample->count > foreign->nstacks ||
            sample->count > JR_FOREIGN_DEPTH || sample->tid == 0 ||
            sample->process >= foreign->nprocesses)
            abort();
    }
    for (size_t i = 0; i < foreign->nthreads; i++) {
        check_slice(&foreign->threads[i].name, &sum);
        if (foreign->threads[i].process >= foreign->nprocesses)
            abort();
    }
    for (size_t i = 0; i < foreign->ncomments; i++)
        check_slice(&foreign->comments[i], &sum);
    for (size_t i = 0; i < foreign->nmappings; i++) {
        check_slice(&foreign->mappings[i].path, &sum);
        if (foreign->mappings[i].start >= foreign->mappings[i].end)
            abort();
    }
    for (size_t i = 0; i < foreign->nremarks; i++)
        sum += (unsigned)strlen(foreign->remarks[i]);
    check_slice(&foreign->type, &sum);
    check_slice(&foreign->unit, &sum);
    if (foreign->period_ns == 0 || sum == UINT32_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static jr_foreign_read_fn *const readers[] = {
        jr_foreign_collapsed, jr_foreign_perf_script, jr_foreign_cpuprofile};
    struct jr_diag silent = {.silent = 1};
    struct jr_foreign foreign;

    if (jr_foreign_parse(data, size, "input", &foreign, &silent) == 0)
        check(&foreign);
    jr_foreign_free(&foreign);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        foreign = (struct jr_foreign){.size = size, .period_ns = 1};
        foreign.data = malloc(size ? size : 1);
        if (size > 0)
            memcpy(foreign.data, data, size);
        if (readers[i](&foreign, "input", &silent) == 0)
            check(&foreign);
        jr_foreign_free(&foreign);
    }
    return 0;
}
