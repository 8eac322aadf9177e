/* SPDX-License-Identifier: MIT
 *
 * Sums of samples by stack.
 * Runs in: analyzer. */
#include "sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void jr_sums_free(struct jr_sums *sums)
{
    free(sums->items);
    free(sums->heads);
    jr_table_free(&sums->tids);
    *sums = (struct jr_sums){0};
}

/* The first sum of a stack, plus one, which the caller may set. */
static uint32_t *head_of(struct jr_sums *sums, uint32_t stack)
{
    const size_t before = sums->heads_room;

    if (stack >= before) {
        sums->heads =
            jr_grow(sums->heads, stack, &sums->heads_room, sizeof *sums->heads);
        memset(sums->heads + before, 0,
               (sums->heads_room - before) * sizeof *sums->heads);
    }
    return &sums->heads[stack];
}

static int is_alike(const struct jr_sum *sum, const struct jr_sum *other)
{
    return sum->event == other->event && sum->reason == other->reason;
}

/* The sum that a sample belongs to, whose stack has others: behind the first
 * one.  NULL: there is none. */
static struct jr_sum *find_other(const struct jr_sums *sums, uint32_t first,
                                 const struct jr_sum *sample)
{
    uint32_t at = sums->items[first].next;

    while (at != 0 && !is_alike(&sums->items[at], sample))
        at = sums->items[at].next;
    return at ? &sums->items[at] : NULL;
}

/* The sum that a sample belongs to; NULL, and the sample is a sum now. */
static struct jr_sum *sum_of(struct jr_sums *sums, const struct jr_sum *sample)
{
    uint32_t *head = head_of(sums, sample->stack), first = *head;
    struct jr_sum *sum = NULL;

    if (first > 0) {
        sum = &sums->items[first - 1];
        if (!is_alike(sum, sample))
            sum = find_other(sums, first - 1, sample);
    }
    if (sum)
        return sum;
    *JR_PUSH(sums->items, sums->count, sums->room) = *sample;
    if (first == 0) {
        *head = (uint32_t)sums->count;
    } else {
        sums->items[sums->count - 1].next = sums->items[first - 1].next;
        sums->items[first - 1].next = (uint32_t)(sums->count - 1);
    }
    return NULL;
}

void jr_sums_prefetch(const struct jr_sums *sums, uint32_t stack)
{
    if (stack < sums->heads_room)
        __builtin_prefetch(&sums->heads[stack]);
}

void jr_sums_prefetch_first(const struct jr_sums *sums, uint32_t stack)
{
    if (stack < sums->heads_room && sums->heads[stack] > 0)
        __builtin_prefetch(&sums->items[sums->heads[stack] - 1]);
}

void jr_sums_add(struct jr_sums *sums, const struct jr_sum *sample,
                 uint32_t tid)
{
    struct jr_sum *sum;

    if (sums->count == 0 || sums->tid != tid)
        jr_table_put(&sums->tids, tid, 0, 0);
    sums->tid = tid;
    sum = sum_of(sums, sample);
    if (!sum)
        return;
    sum->samples += sample->samples;
    if (sample->first_ns < sum->first_ns)
        sum->first_ns = sample->first_ns;
    if (sample->last_ns > sum->last_ns)
        sum->last_ns = sample->last_ns;
    if (__builtin_add_overflow(sum->weight_ns, sample->weight_ns,
                               &sum->weight_ns))
        sum->weight_ns = UINT64_MAX;
}
