/* SPDX-License-Identifier: MIT
 *
 * Hooks of _exit and _Exit, by which a process ends without destructors: its
 * CPU time is written down, as is in real time what its waiting threads have
 * waited, its log is ended, and space mapped in advance given
 * back.
 * Runs in: any thread, the program's handlers, vfork children. */
#include <stdlib.h>
#include <unistd.h>

#include "hooks/base/real.h"
#include "sig/control.h"
#include "sig/critical.h"
#include "sig/files/usage.h"
#include "sig/log/reserve.h"
#include "sig/logfile.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

static void note(void)
{
    if (!jp_process_ready_sig() || jp_sys_getpid_sig() != jp_owner->pid)
        return;
    jp_critical_begin_sig(); /* for good: nothing may be written after this */
    jp_control_end_time_sig();
    jp_usage_end_sig();
    jp_logfile_end_sig();
    jp_reserve_end_sig();
}

JP_HOOK(void, _exit, (int status))
{
    JP_REAL(_exit)
    note();
    real(status);
    __builtin_unreachable();
}

JP_HOOK(void, _Exit, (int status))
{
    JP_REAL(_Exit)
    note();
    real(status);
    __builtin_unreachable();
}
