/* SPDX-License-Identifier: MIT
 *
 * Stacks whose memory changes.  A thread that changes memory first says so
 * (`shaking`) and then looks whether a handler is at work on that stack
 * (`busy`); a handler first sets `busy` and then looks at `shaking`.  So at
 * least one of them sees the other.
 * Runs in: handler, any thread. */
#include "shake.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#include "sig/os/sys.h"
#include "sig/state/thread.h"

#define YIELDS 10000U /* the handler's thread may have been stopped */

static _Atomic uint32_t shaking; /* threads between begin and end */

static void await_sig(const struct jp_thread *thread)
{
    for (unsigned i = 0; i < YIELDS && atomic_load(&thread->busy) != 0; i++)
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
}

/* Whether [start, end) touches a thread's stack; while its lower end is
 * unknown, all memory below its root counts. */
static int touches_sig(const struct jp_thread *thread, uint64_t start,
                       uint64_t end)
{
    const uint64_t known =
        __atomic_load_n(&thread->stack.low, __ATOMIC_RELAXED);
    uint64_t low = thread->stack.floor < known ? thread->stack.floor : known;
    if (low == UINT64_MAX)
        low = 0;
    return start < thread->stack.high && end > low;
}

void jp_stack_change_begin_sig(uint64_t start, uint64_t size, int keyed)
{
    const uint32_t count = jp_threads_used_sig();
    atomic_fetch_add(&shaking, 1);
    for (uint32_t i = 0; i < count; i++) {
        struct jp_thread *thread = jp_thread_at_sig(i);
        if (atomic_load(&thread->state) < JP_THREAD_IDLE ||
            !touches_sig(thread, start, start + size))
            continue;
        atomic_store(&thread->stack.changed, 1);
        if (keyed)
            atomic_store(&thread->stack.unsafe, 1);
        await_sig(thread);
    }
}

void jp_stack_change_end_sig(void)
{
    atomic_fetch_sub(&shaking, 1);
}

int jp_is_unmapping_sig(void)
{
    return atomic_load(&shaking) != 0;
}

void jp_stack_change_reset_sig(void)
{
    atomic_store(&shaking, 0);
}
