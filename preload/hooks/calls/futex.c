/* SPDX-License-Identifier: MIT
 *
 * Waiting for a futex by syscall(2).
 * Runs in: any thread, the program's handlers. */
#include "futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "hooks/base/retry.h"

/* The call's arguments: a[0] is its number, a[2] the operation, a[4] the
 * time-out: of FUTEX_WAIT a time from now, of FUTEX_WAIT_BITSET a moment. */
#define OPERATION(a) ((a)[2] & FUTEX_CMD_MASK)

int jp_futex_waits(const long a[7])
{
    return a[0] == SYS_futex &&
           (OPERATION(a) == FUTEX_WAIT || OPERATION(a) == FUTEX_WAIT_BITSET);
}

long jp_futex_wait(jp_syscall_function *real, const long a[7])
{
    JP_RETRY(retry);
    struct timespec left;
    const struct timespec *time = (const struct timespec *)a[4];
    const int may = jp_retry_begin(&retry);
    const int64_t begun = may ? jp_retry_now() : 0;
    long result = real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    if (result >= 0 || errno != EINTR || !may || a[4] == 0)
        return result;
    /* The kernel has read the time-out, so there is one to read. */
    int64_t deadline =
        OPERATION(a) == FUTEX_WAIT ? jp_retry_deadline(time) : JP_NEVER;
    if (deadline != JP_NEVER)
        deadline -= jp_retry_now() - begun;
    errno = EINTR;
    while (result < 0 && errno == EINTR && jp_retry_interrupted(&retry)) {
        if (deadline != JP_NEVER) {
            left = jp_retry_left(deadline);
            time = &left;
        }
        result = real(a[0], a[1], a[2], a[3], (long)time, a[5], a[6]);
    }
    return result;
}
