/* SPDX-License-Identifier: MIT
 *
 * Which alternate stacks threads have set before jprof's constructor ran.
 * Runs in: any thread. */
#include "earlystack.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "sig/os/sys.h"

#define ROOM 128U

static struct noted {
    _Atomic uint32_t tid; /* 0: free */
    _Atomic uint64_t low, high;
} noted[ROOM];
static _Atomic uint32_t used; /* the entries from here on have never been */

/* The entry of a thread, or a free one; NULL: there is none. */
static struct noted *place(uint32_t tid)
{
    const uint32_t count = atomic_load(&used);
    for (uint32_t i = 0; i < count; i++) {
        if (atomic_load(&noted[i].tid) == tid)
            return &noted[i];
    }
    for (uint32_t i = 0; i < ROOM; i++) {
        uint32_t none = 0, last = atomic_load(&used);
        if (!atomic_compare_exchange_strong(&noted[i].tid, &none, tid))
            continue;
        while (last <= i && !atomic_compare_exchange_weak(&used, &last, i + 1))
            ;
        return &noted[i];
    }
    return NULL;
}

static void clear(struct noted *at)
{
    atomic_store(&at->high, 0);
    atomic_store(&at->low, 0);
    atomic_store(&at->tid, 0);
}

int jp_earlystack_note(uint32_t tid, uint64_t low, uint64_t high)
{
    if (high == 0 && atomic_load(&used) == 0)
        return 1;
    struct noted *at = tid != 0 ? place(tid) : NULL;
    if (at == NULL)
        return 0;
    if (high == 0) {
        clear(at);
        return 1;
    }
    atomic_store(&at->low, low);
    atomic_store(&at->high, high);
    return 1;
}

int jp_earlystack_has(uint32_t tid, uint64_t low, uint64_t high)
{
    const uint32_t pid = jp_sys_getpid_sig();
    const uint32_t count = atomic_load(&used);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t other = atomic_load(&noted[i].tid);
        if (other != 0 && other != tid && atomic_load(&noted[i].low) < high &&
            low < atomic_load(&noted[i].high) &&
            jp_sys_sig(SYS_tgkill, pid, other, 0, 0, 0) != -ESRCH)
            return 1;
    }
    return 0;
}

void jp_earlystack_forked(void)
{
    const uint32_t count = atomic_load(&used);
    for (uint32_t i = 0; i < count; i++)
        clear(&noted[i]);
    atomic_store(&used, 0);
}
