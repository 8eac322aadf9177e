/* SPDX-License-Identifier: MIT
 *
 * Waiting for descriptors in place of a call that was ended early.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_AWAIT_H
#define JP_AWAIT_H

#include <poll.h>
#include <stdint.h>

#include "hooks/base/retry.h"

/* Calls ppoll until a moment of jp_retry_now, by jp_retry_masked, and again as
 * long as only jprof's signals end it.  Returns how many are ready, 0 when the
 * time is over, or -errno: -EINTR when a handler of the program's ran. */
int jp_await(struct jp_retry *retry, struct pollfd *fds, nfds_t count,
             int64_t deadline);

#endif
