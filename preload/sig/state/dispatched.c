/* SPDX-License-Identifier: MIT
 *
 * Keeps jprof's own system calls from threads where they would become signals.
 * Runs in: handler, any thread. */
#include "dispatched.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "gate.h"
#include "own_code.h"
#include "sig/arch/arch.h"
#include "sig/os/filter.h"
#include "sig/os/sys.h"

#define PLACES 4096U
/* A thread is in one of so many places, from the one that its thread pointer
 * leads to on. */
#define WAYS 16U

/* A child's system calls are as usual (Documentation/admin-guide/
 * syscall-user-dispatch.rst), so fork wipes this memory. */
struct table {
    _Atomic uint32_t all; /* 1: threads are not told apart, and no call of
                             jprof's is made in any of them */
    /* Thread pointers of such threads, which lead to their `local`; 0: free.
     * (That of a thread which has ended may stay.) */
    _Atomic uint64_t threads[PLACES];
};
static struct table *_Atomic table;

static _Thread_local struct {
    uint8_t on; /* some of the thread's calls become signals, */
    const volatile uint8_t *selector; /* unless this says otherwise */
} local;

static _Atomic uint64_t *place_sig(struct table *in, uint64_t thread,
                                   unsigned way)
{
    return &in->threads[(JP_ARCH_GATE_PLACE(thread) + way) % PLACES];
}

static _Atomic uint64_t *find_sig(struct table *in, uint64_t thread)
{
    for (unsigned i = 0; i < WAYS; i++) {
        _Atomic uint64_t *place = place_sig(in, thread, i);
        if (atomic_load_explicit(place, memory_order_relaxed) == thread)
            return place;
    }
    return NULL;
}

/* Whether a system call of the calling thread would become a signal.  (The
 * kernel reads the selector at each call of the thread's as well, and ends the
 * process where it cannot be read.) */
static int is_blocked_sig(struct table *in)
{
    if (atomic_load_explicit(&in->all, memory_order_relaxed) != 0)
        return 1;
    return find_sig(in, jp_arch_thread_sig()) != NULL && local.on &&
           (local.selector == NULL || *local.selector != 0);
}

static int verdict_sig(long number, const long arguments[6])
{
    if (is_blocked_sig(atomic_load(&table)))
        return -EPERM;
    return atomic_load(&jp_filters) != NULL
               ? jp_filter_verdict_sig(number, arguments)
               : 0;
}

void jp_dispatched_prepare_sig(void)
{
    struct table *none = NULL;
    if (atomic_load(&table) != NULL)
        return;
    struct table *made = jp_sys_memory_sig(sizeof(*made), JP_FORK_WIPE);
    if (made != NULL && !atomic_compare_exchange_strong(&table, &none, made))
        jp_sys_unmap_sig(made, sizeof(*made));
}

/* Whether jprof's system calls are among those that become signals.  The
 * difference wraps, as the kernel's does. */
static int concerns_us_sig(const struct jp_dispatched *how)
{
    const int within =
        (uint64_t)(uintptr_t)__ehdr_start - how->start < how->size;
    return within == (how->inside != 0);
}

/* Returns 0 when there is no free place. */
static int enter_sig(struct table *in, uint64_t thread)
{
    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(place_sig(in, thread, i), &none,
                                           thread))
            return 1;
    }
    return 0;
}

void jp_dispatched_begin_sig(const struct jp_dispatched *how)
{
    jp_dispatched_end_sig();
    struct table *in = concerns_us_sig(how) ? atomic_load(&table) : NULL;
    if (in == NULL)
        return;
    local.selector = how->selector;
    local.on = 1;
    if (!jp_gate_direct || !enter_sig(in, jp_arch_thread_sig()))
        atomic_store(&in->all, 1);
    atomic_store(&jp_sys_judge, verdict_sig);
}

void jp_dispatched_end_sig(void)
{
    struct table *in = atomic_load(&table);
    _Atomic uint64_t *place = in != NULL && jp_gate_direct
                                  ? find_sig(in, jp_arch_thread_sig())
                                  : NULL;
    local.on = 0;
    if (place != NULL)
        atomic_store(place, 0);
}
