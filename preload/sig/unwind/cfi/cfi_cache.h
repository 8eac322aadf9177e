/* SPDX-License-Identifier: MIT
 *
 * The cache of rules by pc, which all threads share.  An entry has a count that
 * is odd while a thread writes the entry and that each write changes; a reader
 * uses what it read only if the count was even and did not change.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_CACHE_H
#define JP_CFI_CACHE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "cfi_run.h"

#define JP_CFI_CACHE_BITS 13U

struct jp_cfi_entry {
    _Atomic uint64_t guard; /* count << 32 | epoch of the map */
    _Atomic uint64_t pc;
    _Atomic uint64_t words[2]; /* struct jp_cfi_rule */
};

extern struct jp_cfi_entry jp_cfi_cache[1U << JP_CFI_CACHE_BITS];

/* The entry for a pc.  Its low bits are as good as a hash, and a walk waits for
 * this.  (pc is mostly a return address minus one.) */
static inline struct jp_cfi_entry *jp_cfi_entry_sig(uint64_t pc)
{
    return &jp_cfi_cache[(pc + 1) % (1U << JP_CFI_CACHE_BITS)];
}

/* Reads the rule for a pc, as its two words, if the cache has it for this epoch
 * (jp_maps_epoch_sig).  Returns whether it has. */
static inline int jp_cfi_words_sig(uint64_t pc, uint32_t epoch,
                                   uint64_t words[2])
{
    struct jp_cfi_entry *entry = jp_cfi_entry_sig(pc);
    const uint64_t guard =
        atomic_load_explicit(&entry->guard, memory_order_acquire);
    const uint64_t key = atomic_load_explicit(&entry->pc, memory_order_relaxed);
    words[0] = atomic_load_explicit(&entry->words[0], memory_order_relaxed);
    words[1] = atomic_load_explicit(&entry->words[1], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return key == pc && (uint32_t)guard == epoch && (guard >> 32 & 1) == 0 &&
           atomic_load_explicit(&entry->guard, memory_order_relaxed) == guard;
}

/* Whether the cache holds the rule of pc; if so, fills *rule. */
static inline int jp_cfi_cached_sig(uint64_t pc, uint32_t epoch,
                                    struct jp_cfi_rule *rule)
{
    uint64_t words[2];
    if (!jp_cfi_words_sig(pc, epoch, words))
        return 0;
    memcpy(rule, words, sizeof(*rule));
    return 1;
}

/* Puts a rule into the cache, unless another thread writes the same entry just
 * now. */
void jp_cfi_keep_sig(uint64_t pc, uint32_t epoch,
                     const struct jp_cfi_rule *rule);

/* Finds the rule for a pc, in the cache or else in the module's call-frame
 * information, and puts it into the cache.  rows: JP_CFI_ROWS words.  Returns 0
 * or -EAGAIN. */
int jp_cfi_lookup_sig(uint64_t pc, uint32_t epoch, uint64_t *rows,
                      struct jp_cfi_rule *rule);

/* Finds the caller's registers for a frame whose rule is COMPUTED
 * (jp_cfi_compute_sig).  rows: JP_CFI_ROWS words.  Returns 0, -EAGAIN or
 * -EINVAL. */
int jp_cfi_work_out_sig(uint64_t pc, uint32_t epoch, uint64_t *rows,
                        struct jp_cfi_values *values);

_Static_assert(sizeof(struct jp_cfi_entry) == 32, "two a cache line");

#endif
