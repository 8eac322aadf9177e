/* SPDX-License-Identifier: MIT
 *
 * Hook of fsync.  JavaScriptCore calls it behind each record of its jitdump
 * (WebKit, Source/JavaScriptCore/assembler/PerfLog.cpp), in a thread of its own
 * that falls behind where the disk is busy: what it has not written when the
 * process ends is lost.  The records need not be on the disk while the process
 * runs.
 * Runs in: any thread, the program's handlers. */
#include <stdatomic.h>
#include <unistd.h>

#include "hooks/base/real.h"
#include "sig/jit/jit_dump.h"
#include "sig/state/process.h"

JP_HOOK(int, fsync, (int fd))
{
    JP_REAL(fsync)
    if (jp_process_ready_sig() && atomic_load(&jp_process.running) &&
        jp_jitdump_is_open_sig(fd))
        return 0;
    return real(fd);
}
