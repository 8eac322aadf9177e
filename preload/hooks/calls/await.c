/* SPDX-License-Identifier: MIT
 *
 * Waiting for descriptors.
 * Runs in: any thread, the program's handlers. */
#include "await.h"

#include <errno.h>
#include <signal.h>

#include "hooks/base/real.h"

struct await {
    struct pollfd *fds;
    nfds_t count;
    int64_t deadline;
};

static int await_again(void *subject, const sigset_t *mask)
{
    JP_REAL_DECLARED(ppoll)
    const struct await *await = subject;
    const struct timespec left = jp_retry_left(await->deadline);
    return real(await->fds, await->count, &left, mask);
}

int jp_await(struct jp_retry *retry, struct pollfd *fds, nfds_t count,
             int64_t deadline)
{
    struct await await = {fds, count, deadline};
    int result;
    do
        result = jp_retry_masked(retry, await_again, &await);
    while (result < 0 && errno == EINTR && jp_retry_interrupted(retry));
    return result < 0 ? -errno : result;
}
