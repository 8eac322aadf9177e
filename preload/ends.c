/* SPDX-License-Identifier: MIT
 *
 * Processes that end without their destructors: what they used is noted, and
 * what was mapped in advance given back.
 * Runs in: any thread, the program's handlers, vfork children. */
#include <stdlib.h>
#include <unistd.h>

#include "real.h"
#include "sig/logfile.h"
#include "sig/process.h"
#include "sig/share.h"
#include "sig/sys.h"
#include "sig/usage.h"

typedef void exit_function(int);

static void note(void)
{
    if (!jp_owned_sig() || jp_sys_getpid_sig() != jp_owner->pid)
        return;
    jp_sys_block_sig(); /* for good: nothing is to be written behind it */
    jp_usage_note_sig();
    jp_logfile_end_sig();
    jp_share_end_sig();
}

JP_HOOK(void, _exit, (int status))
{
    JP_REAL(exit_function, _exit)
    note();
    real(status);
    __builtin_unreachable();
}

JP_HOOK(void, _Exit, (int status))
{
    JP_REAL(exit_function, _Exit)
    note();
    real(status);
    __builtin_unreachable();
}
