/* SPDX-License-Identifier: MIT
 *
 * Waiting for descriptors in place of a call that ended early.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_AWAIT_H
#define JP_AWAIT_H

#include <poll.h>
#include <stdint.h>

#include "hooks/base/retry.h"

/* Waits by ppoll until a descriptor is ready or the moment `deadline`
 * (jp_retry_now) has come, again if only jprof's signals end the wait.
 * Returns how many are ready, 0 when the time is over, or -errno: -EINTR when
 * a handler of the program's ran. */
int jp_await(struct jp_retry *retry, struct pollfd *fds, nfds_t count,
             int64_t deadline);

#endif
