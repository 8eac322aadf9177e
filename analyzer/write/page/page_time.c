/* SPDX-License-Identifier: MIT
 *
 * Moments as the page counts them.
 * Runs in: analyzer. */
#include "model/span.h"
#include "page.h"

#define US 1000 /* ns in a microsecond */

uint64_t jr_page_time(const struct jr_model *model,
                      const struct jr_process *process, uint64_t time_ns)
{
    const uint64_t zero = jr_span_zero(&model->filter, process);
    const uint64_t start = jr_span_section(process->map, time_ns);
    uint64_t time = (int64_t)(time_ns - zero) > 0 ? (time_ns - zero) / US : 0;
    uint64_t least =
        (int64_t)(start - zero) > 0 ? (start - zero + US - 1) / US : 0;

    return time < least ? least : time;
}
