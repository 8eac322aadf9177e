/* SPDX-License-Identifier: MIT
 *
 * Prints each sample of a log with its time, which no report shows:
 * `TIME TID WEIGHT REASON DEPTH FRAME;FRAME...` a line, the root first, times
 * and weights in ns; a frame is its kind (N native, J JIT, u unnamed), `?`
 * when the name came late, and the name.
 * Runs in: tests. */
#include <inttypes.h>
#include <stdio.h>

#include "read/walk.h"
#include "runs.h"

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
    static uint64_t frames[JR_STACK_DEPTH_MAX];
    const uint32_t depth = jr_stacks_depth(&run->stacks, sample->stack);

    jr_stacks_frames(&run->stacks, sample->stack, frames);
    printf("%" PRIu64 " %" PRIu32 " %" PRIu64 " %d %" PRIu32 " ",
           sample->time_ns, sample->tid, sample->weight_ns, sample->reason,
           depth);
    for (uint32_t i = depth; i-- > 0;) {
        struct jr_hit hit;

        jr_space_find(space, frames[i], sample->time_ns, i > 0, &hit);
        for (size_t at = hit.nframes; at-- > 0;) {
            put_frame(&hit.frames[at]);
            if (at || i)
                putchar(';');
        }
    }
    putchar('\n');
}

static void put_run(struct jr_space *space, const struct jr_log *log,
                    const struct jr_run *run)
{
    struct jr_walk *walk = jr_walk_begin(log, run, JR_WALK_BY_TIME);
    const struct jr_sample *samples;
    size_t count;

    while ((count = jr_walk_next(walk, &samples)) > 0) {
        for (size_t i = 0; i < count; i++)
            put_sample(space, run, &samples[i]);
    }
    jr_walk_end(walk);
}

int main(int argc, char **argv)
{
    return argc == 2 ? each_run(argv[1], put_run) : 2;
}
