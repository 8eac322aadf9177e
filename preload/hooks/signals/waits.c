/* SPDX-License-Identifier: MIT
 *
 * Hooks of calls that wait for signals.  jprof's handler does not end them,
 * and a signal that the program waits for becomes the program's.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "signals.h"

/* Gives the signals of a set that the program waits for to the program.
 * Returns the set for the kernel, without the clock's signals. */
static sigset_t waited(const sigset_t *set)
{
    jp_signals_awaited(jp_local_bits(set));
    return jp_local_without_clock(set);
}

JP_HOOK(int, sigsuspend, (const sigset_t *set))
{
    JP_REAL(sigsuspend)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(set);
    int result;
    do {
        const sigset_t kernel = jp_local_without_clock(set);
        result = real(&kernel);
    } while (errno == EINTR && jp_retry_interrupted(&retry));
    return result;
}

static int suspend_again(void *subject, const sigset_t *mask)
{
    (void)subject;
    return sigsuspend(mask);
}

JP_HOOK(int, pause, (void))
{
    JP_REAL(pause)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real();
    int result = real();
    while (errno == EINTR && jp_retry_interrupted(&retry))
        result = jp_retry_masked(&retry, suspend_again, NULL);
    return result;
}

/* sigpause(3) exists in two forms: with one signal that is unblocked
 * meanwhile, and with a whole mask. */
static int suspend_without(int signal)
{
    sigset_t mask;
    if (sigprocmask(SIG_BLOCK, NULL, &mask) != 0 ||
        sigdelset(&mask, signal) != 0)
        return -1;
    return sigsuspend(&mask);
}

static int suspend_with(int bits)
{
    sigset_t mask;
    sigemptyset(&mask);
    jp_local_to_sigset(&mask, (uint32_t)bits);
    return sigsuspend(&mask);
}

JP_HOOK(int, __sigpause, (int what, int is_signal))
{
    return is_signal ? suspend_without(what) : suspend_with(what);
}

JP_HOOK(int, __xpg_sigpause, (int signal))
{
    return suspend_without(signal);
}

JP_HOOK(int, sigwait, (const sigset_t *set, int *signal))
{
    JP_REAL(sigwait)
    JP_RETRY(retry);
    jp_retry_begin(&retry);
    const sigset_t kernel = waited(set);
    return real(&kernel, signal);
}

JP_HOOK(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info))
{
    JP_REAL(sigwaitinfo)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(set, info);
    const sigset_t kernel = waited(set);
    return JP_AGAIN(real(&kernel, info));
}

JP_HOOK(int, sigtimedwait,
        (const sigset_t *set, siginfo_t *info, const struct timespec *timeout))
{
    JP_REAL(sigtimedwait)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(set, info, timeout);
    const sigset_t kernel = waited(set);
    return JP_AGAIN_WITHIN(timeout, real(&kernel, info, left));
}

JP_HOOK(int, signalfd, (int fd, const sigset_t *set, int flags))
{
    JP_REAL(signalfd)
    const sigset_t kernel = waited(set);
    return real(fd, &kernel, flags);
}
