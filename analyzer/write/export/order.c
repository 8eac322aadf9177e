/* SPDX-License-Identifier: MIT
 *
 * Brings the times of several machines together.
 * Runs in: analyzer. */
#include "order.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export.h"

/* Processes of other boots and machines are brought together by the time of
 * day; where a log has none, its own start is zero. */
static uint64_t *find_zeros(const struct jr_model *model)
{
    const uint64_t start = jr_export_start_ns(model);
    uint64_t *zero = jr_alloc(model->nprocesses + 1, sizeof(*zero));

    for (size_t i = 0; i < model->nprocesses; i++) {
        const struct jr_process *process = &model->processes[i];
        const uint64_t real_ns = jr_export_real_ns(process);

        zero[i] = jr_export_begin_ns(process);
        if (real_ns)
            zero[i] -= real_ns - start;
    }
    return zero;
}

void jr_order_make(const struct jr_model *model, const uint32_t *sequence,
                   struct jr_order *order)
{
    order->zero = find_zeros(model);
    order->again = jr_again_begin(model, sequence, JR_AGAIN_MOST);
}

void jr_order_free(const struct jr_report *report, struct jr_order *order)
{
    const uint64_t missed = jr_again_end(order->again);

    free(order->zero);
    if (missed > 0 && report->diag)
        jr_warn(report->diag, report->nlogs > 0 ? report->logs[0] : "the log",
                JR_NO_OFFSET,
                "the logs changed while the report was written; %" PRIu64
                " samples are missing in it, or too many",
                missed);
}
