/* SPDX-License-Identifier: MIT
 *
 * Kits: made on demand, passed from thread to thread by a free list.
 * Runs in: handler, any thread. */
#include "kit.h"

#include <stddef.h>

#include "config.h"
#include "sys.h"

static struct jp_kit *_Atomic kits[JP_KITS_MAX];
static _Atomic uint32_t kits_made;

/* Index + 1 in the low half, a count against reuse above. */
static _Atomic uint64_t free_head;

static struct jp_kit *pop_free_sig(void)
{
    uint64_t head = atomic_load(&free_head);
    while ((uint32_t)head != 0) {
        struct jp_kit *kit = atomic_load(&kits[(uint32_t)head - 1]);
        uint64_t next = ((head >> 32) + 1) << 32 | kit->next_free;
        if (atomic_compare_exchange_weak(&free_head, &head, next))
            return kit;
    }
    return NULL;
}

static struct jp_kit *make_sig(void)
{
    const size_t stack = sizeof(uint64_t) * jp_config.depth;
    uint32_t index = atomic_load(&kits_made);
    do {
        if (index >= JP_KITS_MAX)
            return NULL;
    } while (!atomic_compare_exchange_weak(&kits_made, &index, index + 1));
    struct jp_kit *kit =
        jp_sys_memory_sig(sizeof(*kit) + 2 * stack, JP_FORK_DROP);
    if (kit == NULL)
        return NULL;
    kit->frames = (uint64_t *)(kit + 1);
    kit->last = kit->frames + jp_config.depth;
    kit->index = index;
    atomic_store(&kits[index], kit);
    return kit;
}

struct jp_kit *jp_kit_take_sig(void)
{
    struct jp_kit *kit = pop_free_sig();
    return kit != NULL ? kit : make_sig();
}

void jp_kit_return_sig(struct jp_kit *kit)
{
    uint64_t head = atomic_load(&free_head), next;
    do {
        kit->next_free = (uint32_t)head;
        next = ((head >> 32) + 1) << 32 | (kit->index + 1);
    } while (!atomic_compare_exchange_weak(&free_head, &head, next));
}

uint32_t jp_kits_count_sig(void)
{
    return atomic_load(&kits_made);
}

struct jp_kit *jp_kit_at_sig(uint32_t index)
{
    return atomic_load(&kits[index]);
}

void jp_kits_reset_sig(void)
{
    uint32_t made = atomic_load(&kits_made);
    for (uint32_t i = 0; i < made; i++)
        atomic_store(&kits[i], NULL);
    atomic_store(&kits_made, 0);
    atomic_store(&free_head, 0);
}
