/* SPDX-License-Identifier: MIT
 *
 * The cache of rules, and filling it.
 * Runs in: handler, any thread. */
#include "cfi_cache.h"

#include <errno.h>

#include "cfi_module.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"

struct jp_cfi_entry jp_cfi_cache[1U << JP_CFI_CACHE_BITS]
    __attribute__((aligned(64)));

void jp_cfi_keep_sig(uint64_t pc, uint32_t epoch,
                     const struct jp_cfi_rule *rule)
{
    struct jp_cfi_entry *entry = jp_cfi_entry_sig(pc);
    uint64_t words[2];
    uint64_t guard = atomic_load_explicit(&entry->guard, memory_order_relaxed);
    uint64_t count = guard >> 32;
    if ((count & 1) != 0 || !atomic_compare_exchange_strong(
                                &entry->guard, &guard, (count + 1) << 32))
        return;
    atomic_thread_fence(memory_order_release);
    memcpy(words, rule, sizeof(words));
    atomic_store_explicit(&entry->pc, pc, memory_order_relaxed);
    atomic_store_explicit(&entry->words[0], words[0], memory_order_relaxed);
    atomic_store_explicit(&entry->words[1], words[1], memory_order_relaxed);
    atomic_store_explicit(&entry->guard, (count + 2) << 32 | epoch,
                          memory_order_release);
}

/* Whether pc is at, in or just before the code that a signal's handler returns
 * to. */
static int is_sigreturn_sig(uint64_t pc)
{
    static const uint8_t expected[] = JP_ARCH_SIGRETURN;
    static const uint8_t before[] = {JP_ARCH_SIGRETURN_FIRST, 0};
    uint8_t code[sizeof(expected) + 1];
    for (unsigned i = 0; i < sizeof(before); i++) {
        if (jp_self_read_sig(pc - before[i], code, sizeof(code)) ==
                (long)sizeof(code) &&
            (memcmp(code, expected, sizeof(expected)) == 0 ||
             memcmp(code + 1, expected, sizeof(expected)) == 0))
            return 1;
    }
    return 0;
}

int jp_cfi_lookup_sig(uint64_t pc, uint32_t epoch, uint64_t *rows,
                      struct jp_cfi_rule *rule)
{
    struct jp_cfi_module *module;
    const struct jp_cfi_image *image;
    if (jp_cfi_cached_sig(pc, epoch, rule))
        return 0;
    memset(rule, 0, sizeof(*rule));
    uint64_t place = pc;
    int error = jp_cfi_module_take_sig(&place, epoch, &module, &image);
    if (error == 0) {
        error = jp_cfi_rule_sig(image, place, rows, rule);
        jp_cfi_module_give_sig(module);
    } else if (error == -ENOENT) {
        error = 0; /* kind NONE */
    } else if (error == -ESRCH) {
#ifdef JP_TEST_QEMU /* qemu-user has no vdso, but such memory (7.2) */
        if (is_sigreturn_sig(pc))
            rule->kind = JP_CFI_SIGNAL;
#endif
        return 0; /* not in the table of ranges: NONE, but not cached */
    }
    /* 'S' in the CIE alone does not make it a signal's frame: hand-written
     * code that changes stacks has it, too, so that its callers' pcs count as
     * exact.  Information that cannot be read says nothing against it: qemu's
     * vdso for riscv64 returns to column 64 (8.1 and later). */
    if (error == 0 &&
        (rule->kind == JP_CFI_NONE || rule->kind == JP_CFI_BAD ||
         (rule->flags & JP_CFI_EXACT) != 0) &&
        is_sigreturn_sig(pc))
        rule->kind = JP_CFI_SIGNAL;
    if (error == 0)
        jp_cfi_keep_sig(pc, epoch, rule);
    return error;
}

int jp_cfi_work_out_sig(uint64_t pc, uint32_t epoch, uint64_t *rows,
                        struct jp_cfi_values *values)
{
    struct jp_cfi_module *module;
    const struct jp_cfi_image *image;
    int error = jp_cfi_module_take_sig(&pc, epoch, &module, &image);
    if (error != 0)
        return error == -EAGAIN ? error : -EINVAL;
    error = jp_cfi_compute_sig(image, pc, rows, values);
    jp_cfi_module_give_sig(module);
    return error;
}
