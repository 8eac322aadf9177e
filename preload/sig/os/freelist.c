/* SPDX-License-Identifier: MIT
 *
 * A list of free table entries.
 * Runs in: handler, any thread. */
#include "freelist.h"

static uint64_t after_sig(uint64_t head, uint32_t first)
{
    return ((head >> 32) + 1) << 32 | first;
}

uint32_t jp_freelist_pop_sig(struct jp_freelist *list)
{
    uint64_t head = atomic_load(&list->head), next;
    do {
        if ((uint32_t)head == 0)
            return JP_FREELIST_NONE;
        next = after_sig(head, atomic_load(&list->next[(uint32_t)head - 1]));
    } while (!atomic_compare_exchange_weak(&list->head, &head, next));
    return (uint32_t)head - 1;
}

void jp_freelist_push_sig(struct jp_freelist *list, uint32_t index)
{
    uint64_t head = atomic_load(&list->head);
    do {
        atomic_store(&list->next[index], (uint32_t)head);
    } while (!atomic_compare_exchange_weak(&list->head, &head,
                                           after_sig(head, index + 1)));
}

uint32_t jp_freelist_extend_sig(_Atomic uint32_t *used)
{
    uint32_t index = atomic_load(used);
    do {
        if (index >= JP_FREELIST_MAX)
            return JP_FREELIST_NONE;
    } while (!atomic_compare_exchange_weak(used, &index, index + 1));
    return index;
}
