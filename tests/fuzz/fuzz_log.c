/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the log reader.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "read/log.h"
#include "read/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Samples come in order of time, their stacks are there and lead to the
 * root. */
static void walk(const struct jr_log *log, const struct jr_run *run)
{
    static uint64_t frames[JR_STACK_DEPTH_MAX];
    struct jr_walk *walk = jr_walk_begin(log, run, JR_WALK_BY_TIME);
    const struct jr_sample *samples;
    uint64_t last = 0, found = 0;
    size_t count;

    while ((count = jr_walk_next(walk, &samples)) > 0) {
        for (size_t i = 0; i < count; i++) {
            if (samples[i].time_ns < last ||
                samples[i].stack >= run->stacks.count ||
                jr_stacks_depth(&run->stacks, samples[i].stack) >
                    JR_STACK_DEPTH_MAX)
                abort();
            jr_stacks_frames(&run->stacks, samples[i].stack, frames);
            last = samples[i].time_ns;
        }
        found += count;
    }
    if (found != run->nsamples || jr_walk_gone(walk) != 0)
        abort();
    jr_walk_end(walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_diag diag = {.warnings = 1000}; /* printed are the first 20 */
    struct jr_log log;

    jr_log_parse(data, size, "fuzz", &log, &diag);
    for (size_t i = 0; i < log.nruns; i++)
        walk(&log, &log.runs[i]);
    jr_log_free(&log);
    return 0;
}
