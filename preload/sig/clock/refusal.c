/* SPDX-License-Identifier: MIT
 *
 * The message that the kernel refused a timer.
 * Runs in: handler, any thread. */
#include "refusal.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "sig/os/filter.h"
#include "sig/state/process.h"

/* Says, once, that a timer was refused and nothing is left instead.  Each
 * POSIX timer takes a place in the user's queue of pending signals
 * (RLIMIT_SIGPENDING); EAGAIN is what a full one answers. */
void jp_clock_complain_sig(int error)
{
    static _Atomic uint32_t said;
    if (jp_filter_number_sig(SYS_timer_create) == 0 &&
        atomic_exchange(&said, 1) == 0)
        jp_complain_sig("a thread goes without samples, the kernel refused "
                        "its timer",
                        NULL, error);
}
