/* SPDX-License-Identifier: MIT
 *
 * Thread slots.
 * Runs in: handler, any thread. */
#include "slot.h"

#include <errno.h>
#include <string.h>

#include "sig/os/freelist.h"
#include "sig/os/sys.h"

uint64_t jp_thread_start_low, jp_thread_start_high;

#define HINTS 4096U

/* Tells our values from a program's: never a user-space address, whose bits
 * from 47 on are zero, and the generation takes 32 of them. */
#define VALUE_TAG 0x6a700000ULL
#define VALUE_TAG_MASK 0xfff00000ULL
#define VALUE_INDEX_MASK 0x000fffffULL

static struct jp_slot *slots;
static _Atomic uint32_t slots_used;
static _Atomic uint32_t slots_taken;
static _Atomic uint32_t adoptions;

static struct jp_freelist free_slots;

static _Thread_local struct jp_slot *mine;

/* Where a thread id was last seen; a wrong hint costs a search. */
static _Atomic uint32_t hints[HINTS];

/* Thread ids whose slots were given back: the threads may still be there for
 * a moment. */
static _Atomic uint32_t ended[HINTS];
static _Atomic uint64_t ended_ns[HINTS];

int jp_slots_init_sig(void)
{
    if (slots != NULL)
        return 0;
    void *memory =
        jp_sys_memory_sig(sizeof(*slots) * JP_SLOTS_MAX, JP_FORK_WIPE);
    if (memory == NULL)
        return -ENOMEM;
    slots = memory;
    return 0;
}

/* Whoever looks at all slots asks for the state first, or holds the slot; what
 * it reads of one that is taken anew at this moment it uses for nothing that
 * the new thread could notice.  (ThreadSanitizer would have each field be
 * atomic.) */
__attribute__((no_sanitize("thread"))) static void
clear_sig(struct jp_slot *slot)
{
    slot->adoptions = atomic_load(&adoptions);
    slot->adopted = 0;
    slot->kit = NULL;
    slot->clock =
        (struct jp_slot_clock){.timer = -1, .cpu_wakeup = -1, .descriptor = -1};
    jp_budget_begin_sig(&slot->clock.budget);
    slot->stack =
        (struct jp_slot_stack){.low = UINT64_MAX, .floor = UINT64_MAX};
    slot->hooks = (struct jp_slot_hooks){0};
    slot->name = (struct jp_slot_name){.unwritten = 1};
    slot->last = (struct jp_slot_last){0};
}

struct jp_slot *jp_slot_new_sig(void)
{
    uint32_t index = jp_freelist_pop_sig(&free_slots);
    if (index == JP_FREELIST_NONE)
        index = jp_freelist_extend_sig(&slots_used);
    if (index == JP_FREELIST_NONE)
        return NULL;
    struct jp_slot *slot = &slots[index];
    atomic_fetch_add(&slots_taken, 1);
    slot->generation++;
    slot->tid = 0;
    clear_sig(slot);
    atomic_store(&slot->busy, 0);
    atomic_store(&slot->state, JP_SLOT_NEW);
    return slot;
}

static int live_sig(const struct jp_slot *slot)
{
    return atomic_load(&slot->state) >= JP_SLOT_IDLE;
}

void jp_slot_begin_sig(struct jp_slot *slot, uint32_t tid)
{
    atomic_compare_exchange_strong(&ended[tid % HINTS], &(uint32_t){tid}, 0);
    slot->tid = tid;
    atomic_store(&hints[tid % HINTS], (uint32_t)(slot - slots));
    atomic_store(&slot->state, JP_SLOT_IDLE);
}

void jp_slot_end_sig(struct jp_slot *slot, uint64_t cpu_ns)
{
    const uint32_t hint = slot->tid % HINTS;
    atomic_store(&ended[hint], 0);
    atomic_store(&ended_ns[hint], cpu_ns);
    atomic_store(&ended[hint], slot->tid);
    jp_slot_free_sig(slot);
}

void jp_slot_free_sig(struct jp_slot *slot)
{
    slot->generation++;
    slot->tid = 0;
    atomic_store(&slot->state, JP_SLOT_FREE);
    atomic_fetch_sub(&slots_taken, 1);
    jp_freelist_push_sig(&free_slots, (uint32_t)(slot - slots));
}

uint64_t jp_slot_value_sig(const struct jp_slot *slot)
{
    return (uint64_t)slot->generation << 32 | VALUE_TAG |
           (uint64_t)(slot - slots);
}

int jp_slot_is_value_sig(uint64_t value)
{
    return (value & VALUE_TAG_MASK) == VALUE_TAG;
}

struct jp_slot *jp_slot_by_value_sig(uint64_t value)
{
    uint32_t index = value & VALUE_INDEX_MASK;
    if (!jp_slot_is_value_sig(value) || index >= atomic_load(&slots_used))
        return NULL;
    struct jp_slot *slot = &slots[index];
    return slot->generation == value >> 32 && live_sig(slot) ? slot : NULL;
}

struct jp_slot *jp_slot_hinted_sig(uint32_t tid)
{
    const uint32_t hint = atomic_load(&hints[tid % HINTS]);
    return hint < atomic_load(&slots_used) && slots[hint].tid == tid &&
                   live_sig(&slots[hint])
               ? &slots[hint]
               : NULL;
}

struct jp_slot *jp_slot_by_tid_sig(uint32_t tid)
{
    struct jp_slot *hinted = jp_slot_hinted_sig(tid);
    const uint32_t used = atomic_load(&slots_used);
    if (hinted != NULL)
        return hinted;
    for (uint32_t i = 0; i < used; i++) {
        if (slots[i].tid == tid && live_sig(&slots[i])) {
            atomic_store(&hints[tid % HINTS], i);
            return &slots[i];
        }
    }
    return NULL;
}

struct jp_slot *jp_slot_here_sig(uint64_t sp)
{
    struct jp_slot *slot = mine;
    return slot != NULL && live_sig(slot) && sp >= slot->stack.low &&
                   sp < slot->stack.high
               ? slot
               : NULL;
}

void jp_slot_remember_sig(struct jp_slot *slot)
{
    mine = slot;
}

uint32_t jp_slot_count_adoptions_sig(uint32_t more)
{
    return atomic_fetch_add(&adoptions, more) + more;
}

uint64_t jp_slot_ended_sig(uint32_t tid)
{
    const uint64_t cpu_ns = atomic_load(&ended_ns[tid % HINTS]);
    return atomic_load(&ended[tid % HINTS]) == tid ? cpu_ns : 0;
}

struct jp_slot *jp_slot_other_sig(const struct jp_slot *slot)
{
    const uint32_t used = atomic_load(&slots_used);
    for (uint32_t i = 0; i < used; i++) {
        if (&slots[i] != slot && slots[i].tid == slot->tid &&
            live_sig(&slots[i]))
            return &slots[i];
    }
    return NULL;
}

void jp_slot_retire_sig(struct jp_slot *slot)
{
    slot->adopted = 1;
    slot->tid = 0;
}

uint32_t jp_slot_index_sig(const struct jp_slot *slot)
{
    return (uint32_t)(slot - slots);
}

uint32_t jp_slots_taken_sig(void)
{
    return atomic_load(&slots_taken);
}

uint32_t jp_slots_count_sig(void)
{
    return atomic_load(&slots_used);
}

struct jp_slot *jp_slot_at_sig(uint32_t index)
{
    return &slots[index];
}

void jp_slots_reset_sig(void)
{
    uint32_t used = atomic_load(&slots_used);
    /* The kernel has wiped them, where it does so. */
    for (uint32_t i = 0; i < used; i++) {
        if (atomic_load(&slots[i].state) != JP_SLOT_FREE)
            memset(&slots[i], 0, sizeof(slots[i]));
    }
    atomic_store(&slots_used, 0);
    atomic_store(&slots_taken, 0);
    atomic_store(&free_slots.head, 0);
}
