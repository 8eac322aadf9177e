/* SPDX-License-Identifier: MIT
 *
 * Marks: names that the program gives to moments.
 * Runs in: any thread. */
#include "mark.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "control.h"
#include "logfile.h"
#include "sig/log/log.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

int jp_mark_sig(enum jp_mark_kind kind, const char *name)
{
    struct jp_mark mark = {.name = name, .kind = (uint8_t)kind};
    if (name == NULL || name[0] == '\0')
        return -EINVAL;
    if (atomic_load(&jp_process.sections) == 0 || jp_control_has_ended_sig())
        return -EAGAIN;
    while (mark.length < JP_MARK_NAME_MAX && name[mark.length] != '\0')
        mark.length++;
    mark.time_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    mark.tid = jp_sys_gettid_sig();
    const int error = jp_logfile_ensure_sig();
    if (error != 0) {
        jp_count_sig(JP_COUNT_LOST_MARKS, 1);
        return error;
    }
    return jp_log_mark_sig(&mark);
}
