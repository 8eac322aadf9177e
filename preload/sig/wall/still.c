/* SPDX-License-Identifier: MIT
 *
 * Whether a thread has stayed in its wait.
 * Runs in: handler. */
#include "still.h"

#include <stdatomic.h>

#include "sig/arch/arch.h"
#include "sig/os/foreign.h"
#include "sig/os/hash.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

/* So much of the stack is compared, if it is on the page that sp is on: the
 * frames of the C library's wait and of some of its callers.  That page is
 * there, as the thread goes on on it; the next may be a guard page. */
#define PRINT_BYTES 1024U
#define PRINT_LEAST 256U

uint64_t jp_still_print_sig(const struct jp_thread *thread,
                            const ucontext_t *context)
{
    const struct jp_thread_stack *stack = &thread->stack;
    const uint64_t sp = jp_arch_sp_sig(context);
    const uint64_t page_end = (sp | (jp_process.page_size - 1)) + 1;
    uint64_t hash = JP_HASH_BEGIN;
    if (sp % sizeof(uint64_t) != 0 || sp < stack->low || sp >= stack->high ||
        page_end - sp < PRINT_LEAST || atomic_load(&stack->unsafe))
        return 0;
    const uint64_t end =
        page_end - sp < PRINT_BYTES ? page_end : sp + PRINT_BYTES;
    for (uint64_t at = sp; at + sizeof(uint64_t) <= end; at += sizeof(uint64_t))
        hash = jp_hash_word_sig(hash, jp_foreign_word_sig(at));
    hash = jp_hash_word_sig(hash, sp);
    return hash != 0 ? hash : 1;
}
