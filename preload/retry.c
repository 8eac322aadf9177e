/* SPDX-License-Identifier: MIT
 *
 * Calls that a signal ends early.
 * Runs in: any thread, the program's handlers. */
#include "retry.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "sig/own.h"
#include "sig/process.h"
#include "sig/sys.h"

int jp_retry_begin(struct jp_retry *retry)
{
    if (!jp_owned_sig())
        return 0;
    retry->slot = jp_local_slot();
    if (retry->slot == NULL)
        return 0;
    retry->runs = atomic_load_explicit(&retry->slot->runs,
                                       memory_order_relaxed);
    retry->theirs = jp_local.theirs;
    return 1;
}

int jp_retry_ours(struct jp_retry *retry)
{
    const uint32_t runs = atomic_load(&retry->slot->runs);
    const int ours = runs != retry->runs && jp_local.theirs == retry->theirs;
    retry->runs = runs;
    return ours;
}

/* Of the signals in the thread's way, not those of jprof's and of glibc's
 * (cancellation and setxid, nptl(7)). */
int jp_retry_seal(const struct jp_retry *retry, uint64_t *before)
{
    jp_sys_sigmask_sig(SIG_BLOCK,
                       ~(atomic_load(&jp_own.unblocked) | JP_SIGSET(32) |
                         JP_SIGSET(33)),
                       before);
    if (jp_local.theirs == retry->theirs)
        return 1;
    jp_sys_sigmask_sig(SIG_SETMASK, *before, NULL);
    return 0;
}

void jp_retry_unseal(uint64_t before)
{
    jp_sys_sigmask_sig(SIG_SETMASK, before, NULL);
}

int64_t jp_retry_now(void)
{
    return (int64_t)jp_sys_clock_sig(CLOCK_MONOTONIC);
}

int64_t jp_retry_deadline(const struct timespec *wait)
{
    const int64_t longest = JP_NEVER / 4;
    if (wait == NULL || wait->tv_sec < 0 ||
        wait->tv_sec > longest / (int64_t)JP_NS)
        return JP_NEVER;
    return jp_retry_now() + wait->tv_sec * (int64_t)JP_NS + wait->tv_nsec;
}

struct timespec jp_retry_left(int64_t deadline)
{
    const int64_t now = jp_retry_now();
    const int64_t left = deadline > now ? deadline - now : 0;
    return (struct timespec){(time_t)(left / (int64_t)JP_NS),
                             (long)(left % (int64_t)JP_NS)};
}
