/* SPDX-License-Identifier: MIT
 *
 * The profile's folder across an exec, by a descriptor.  A process that gets
 * mounts of its own opens it, and writes the descriptor's number into the
 * environment (JPROF_ISCHILD).  The exec hooks pass it on where the folder's
 * path has gone (jp_sys_guard_pass).  The next program's constructor makes the
 * log, and closes it before main.  What that program executes is handed the
 * log instead, which is no folder (sig/log/annex.h).
 * Runs in: any thread, not in a handler. */
#include "handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks/base/local.h"
#include "jp_limits.h"
#include "sig/log/annex.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"
#include "target.h"

/* How many threads pass it on at the moment. */
static _Atomic int passing;

#define FIELDS 3U
#define BEFORE 3U /* fields that stand before the room: init.c */

static const unsigned digits[FIELDS] = {6, 16, 16},
                      bases[FIELDS] = {10, 16, 16};

/* The room for it in the environment; NULL: it is not there. */
static char *field(void)
{
    char *at = getenv(JP_ENV_CHILD), *dot = NULL;
    for (unsigned i = 0; at != NULL && i < BEFORE; i++) {
        dot = strchr(at, '.');
        at = dot != NULL ? dot + 1 : NULL;
    }
    return at != NULL && strcspn(dot, ":/") == sizeof(JP_HANDOVER_NONE) - 1
               ? dot
               : NULL;
}

/* Writes it in place: a copy of the environment that the program makes from now
 * on has it as well. */
static void tell(const uint64_t values[FIELDS])
{
    char *at = field();
    for (unsigned i = 0; at != NULL && i < FIELDS; i++) {
        uint64_t value = values[i];
        for (unsigned k = digits[i]; k > 0; k--, value /= bases[i])
            at[k] = "0123456789abcdef"[value % bases[i]];
        at += digits[i] + 1;
    }
}

void jp_handover_keep(void)
{
    const int error = errno;
    uint64_t values[FIELDS] = {0};
    /* (A log that was handed on serves behind further mounts, too; the folder
     * is there only as far as the mounts until now show it.) */
    if (!jp_local_is_vfork_child() && jp_appended_fd_sig() == 0) {
        values[0] = (uint64_t)jp_sys_guard_keep(values + 1, values + 2);
        tell(values);
    }
    errno = error;
}

/* Reads it.  Returns 0 where there is none. */
static int read_field(uint64_t values[FIELDS])
{
    const char *at = field();
    for (unsigned i = 0; at != NULL && i < FIELDS; i++) {
        const char *digit = at + 1;
        at = digit + digits[i];
        values[i] = jp_text_number_sig(&digit, at, bases[i]);
    }
    return at != NULL && values[0] != 0;
}

/* Closes what was handed over and is not taken. */
static void refuse(const uint64_t values[FIELDS])
{
    struct stat info;
    const int fd = (int)values[0];
    if (fstat(fd, &info) == 0 && info.st_dev == values[1] &&
        info.st_ino == values[2] && fcntl(fd, F_GETFD) == 0)
        close(fd);
}

int jp_handover_take(void)
{
    static const uint64_t none[FIELDS];
    uint64_t values[FIELDS];
    if (!read_field(values))
        return 0;
    if (jp_appended_take_sig((int)values[0], values[1], values[2]))
        return 0;
    tell(none);
    if (jp_sys_guard_take((int)values[0], values[1], values[2]))
        return 1;
    refuse(values); /* as a log of another user's */
    return 0;
}

int jp_handover_pass(const struct jp_target *target)
{
    if (!jp_sys_guard_is_kept() && jp_appended_fd_sig() == 0)
        return 0;
    if (!jp_local_is_vfork_child())
        atomic_fetch_add(&passing, 1);
    if ((jp_sys_guard_pass(1) || jp_appended_pass_sig(1)) &&
        jp_target_loads(target))
        return 1;
    jp_handover_stay(); /* nobody would close it */
    return 0;
}

void jp_handover_stay(void)
{
    if (!jp_local_is_vfork_child() && atomic_fetch_sub(&passing, 1) > 1)
        return;
    jp_sys_guard_pass(0);
    jp_appended_pass_sig(0);
}

void jp_handover_forked(void)
{
    atomic_store(&passing, 0);
}

void jp_handover_end(void)
{
    uint64_t values[FIELDS];
    if (jp_process_ready_sig()) {
        /* The log is opened by the folder, before that is left. */
        values[0] = (uint64_t)jp_appended_keep_sig(values + 1, values + 2);
        tell(values);
    } else if (read_field(values)) {
        refuse(values);
    }
    jp_sys_guard_leave();
}
