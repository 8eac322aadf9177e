/* SPDX-License-Identifier: MIT
 *
 * Kits: made on demand, passed from thread to thread by a free list.
 * Runs in: handler, any thread. */
#include "kit.h"

#include <stddef.h>

#include "config.h"
#include "process.h"
#include "sig/os/freelist.h"
#include "sig/os/sys.h"

static struct jp_kit *_Atomic kits[JP_KITS_MAX];
static _Atomic uint32_t kits_made;

static struct jp_freelist free_kits;

static struct jp_kit *make_sig(void)
{
    const size_t stack = sizeof(uint64_t) * jp_config.depth;
    uint32_t index = jp_freelist_extend_sig(&kits_made);
    if (index == JP_FREELIST_NONE)
        return NULL;
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
    uint32_t index = jp_freelist_pop_sig(&free_kits);
    return index != JP_FREELIST_NONE ? atomic_load(&kits[index]) : make_sig();
}

void jp_kit_return_sig(struct jp_kit *kit)
{
    jp_freelist_push_sig(&free_kits, kit->index);
}

static void tell_sig(_Atomic uint64_t *count, unsigned counter)
{
    const uint64_t amount =
        atomic_exchange_explicit(count, 0, memory_order_relaxed);
    if (amount != 0)
        jp_count_sig(counter, amount);
}

void jp_kit_tell_sig(struct jp_kit *kit)
{
    tell_sig(&kit->rule_hits, JP_COUNT_RULE_HITS);
    tell_sig(&kit->rule_misses, JP_COUNT_RULE_MISSES);
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
    atomic_store(&free_kits.head, 0);
}
