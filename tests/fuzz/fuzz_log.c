/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the log reader.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "read/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_diag diag = {.warnings = 1000}; /* printed are the first 20 */
    struct jr_log log;

    jr_log_parse(data, size, "fuzz", &log, &diag);
    for (size_t i = 0; i < log.nruns; i++) {
        const struct jr_run *run = &log.runs[i];

        for (size_t j = 0; j < run->nsamples; j++) {
            const struct jr_sample *sample = &run->samples[j];
            const struct jr_stack *stack = &run->stacks[sample->stack];

            if (sample->stack >= run->nstacks ||
                stack->first + stack->depth > run->nframes ||
                (j && sample[-1].time_ns > sample->time_ns))
                abort();
        }
    }
    jr_log_free(&log);
    return 0;
}
