/* SPDX-License-Identifier: MIT
 *
 * Sorts samples by thread, by counting.
 * Runs in: analyzer. */
#include "order.h"

#include <stdlib.h>

#include "base/mem.h"
#include "export.h"

/* Processes of other boots and machines are brought together by the time of
 * day; where a log has none, its own start is zero. */
uint64_t *jr_order_zeros(const struct jr_model *model)
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

void jr_order_make(const struct jr_model *model, struct jr_order *order)
{
    size_t *at = jr_alloc(model->nthreads + 1, sizeof(*at));
    size_t sum = 0;

    if (model->nseen > UINT32_MAX)
        jr_no_memory();
    order->zero = jr_order_zeros(model);
    order->items = jr_alloc(model->nseen + 1, sizeof(*order->items));
    order->first = jr_alloc(model->nthreads + 1, sizeof(*order->first));
    for (size_t i = 0; i < model->nthreads; i++) {
        order->first[i] = at[i] = sum;
        sum += model->threads[i].samples;
    }
    order->first[model->nthreads] = sum;
    for (size_t i = 0; i < model->nseen; i++)
        order->items[at[model->seen[i].thread]++] = (uint32_t)i;
    free(at);
}

void jr_order_free(struct jr_order *order)
{
    free(order->items);
    free(order->first);
    free(order->zero);
}
