/* SPDX-License-Identifier: MIT
 *
 * Critical sections.
 * Runs in: any thread. */
#include "critical.h"

#include <signal.h>
#include <stdatomic.h>

#include "owned_signals.h"
#include "sig/os/sys.h"
#include "trap.h"

_Thread_local volatile uint32_t jp_critical_depth;

uint64_t jp_critical_begin_sig(void)
{
    uint64_t mask = 0;
    jp_critical_depth++;
    jp_sys_sigmask_sig(SIG_BLOCK, ~atomic_load(&jp_owned.open), &mask);
    jp_trap_open_sig(mask);
    return mask;
}

int jp_critical_masked_sig(uint64_t *mask)
{
    *mask = 0;
    jp_sys_sigmask_sig(SIG_BLOCK, 0, mask);
    return (*mask & JP_SIGNALS_LIBC) == JP_SIGNALS_LIBC;
}

void jp_critical_end_sig(uint64_t mask)
{
    jp_sys_sigmask_sig(SIG_SETMASK, mask, NULL);
    if (--jp_critical_depth == 0)
        jp_trap_close_sig();
}
