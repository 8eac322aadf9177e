/* SPDX-License-Identifier: MIT
 *
 * Prints each sample of a log with its time, which no report shows:
 * `TIME TID WEIGHT REASON DEPTH FRAME;FRAME...` a line, the root first, times
 * and weights in ns; a frame is its kind (N native, J JIT, u unnamed), `?`
 * when the name came late, and the name.
 * Runs in: tests. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/log.h"
#include "read/map.h"
#include "symbol/symbol.h"

static void put_frame(const struct jr_frame *frame)
{
    putchar(frame->kind == JR_FRAME_NATIVE ? 'N'
            : frame->kind == JR_FRAME_JIT  ? 'J'
                                           : 'u');
    if (frame->late)
        putchar('?');
    for (const char *at = frame->name; *at; at++)
        putchar(*at == ';' || *at == '\n' ? ' ' : *at);
}

static void put_sample(struct jr_space *space, const struct jr_run *run,
                       const struct jr_sample *sample)
{
    const struct jr_stack *stack = &run->stacks[sample->stack];

    printf("%" PRIu64 " %" PRIu32 " %" PRIu64 " %d %" PRIu32 " ",
           sample->time_ns, sample->tid, sample->weight_ns, sample->reason,
           stack->depth);
    for (uint32_t i = stack->depth; i-- > 0;) {
        struct jr_hit hit;

        jr_space_find(space, run->frames[stack->first + i], sample->time_ns,
                      i > 0, &hit);
        for (size_t at = hit.nframes; at-- > 0;) {
            put_frame(&hit.frames[at]);
            if (at || i)
                putchar(';');
        }
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    struct jr_diag diag = {0};
    struct jr_symbols *symbols = jr_symbols_new(&diag);
    struct jr_log log = {0};

    if (argc != 2 || jr_log_read(argv[1], &log, &diag) != 0)
        return 2;
    for (size_t i = 0; i < log.nruns; i++) {
        const struct jr_run *run = &log.runs[i];
        const char *slash = strrchr(argv[1], '/');
        char *folder = slash ? jr_strndup(argv[1], (size_t)(slash - argv[1]))
                             : jr_strdup("");
        char *path = jr_printf("%s%s%s", folder, slash ? "/" : "",
                               run->header.map_name);
        struct jr_map map = {0};
        struct jr_space *space;

        jr_map_read(path, run->header.pid, run->header.start_ticks, &map,
                    &diag);
        space = jr_space_new(symbols, &map, folder);
        for (size_t at = 0; at < run->nsamples; at++)
            put_sample(space, run, &run->samples[at]);
        jr_space_free(space);
        jr_map_free(&map);
        free(path);
        free(folder);
    }
    jr_log_free(&log);
    jr_symbols_free(symbols);
    return 0;
}
