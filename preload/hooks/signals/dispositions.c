/* SPDX-License-Identifier: MIT
 *
 * Hooks of sigaction's older relatives, which are made of the sigaction hook
 * here as the C library's own would go past it; and sigaction as a bare system
 * call.
 * Runs in: any thread, the program's handlers. */
#include "dispositions.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "sig/arch/arch.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "signals.h"

typedef void handler_function(int);

/* Signals for which siginterrupt has asked that handlers end calls; signal(3)
 * heeds it. */
static _Atomic uint64_t interrupting;

static handler_function *set(int number, handler_function *handler, int flags,
                             uint64_t mask)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction old;
    if (handler == SIG_ERR || number < 1 || number > 64) {
        errno = EINVAL;
        return SIG_ERR;
    }
    jp_local_to_sigset(&action.sa_mask, mask);
    return jp_signals_action(number, &action, &old) == 0 ? old.sa_handler
                                                         : SIG_ERR;
}

static void from_kernel(struct sigaction *action,
                        const struct jp_arch_action *kernel)
{
    memset(action, 0, sizeof(*action));
    action->sa_handler = kernel->handler;
    action->sa_flags = (int)kernel->flags;
    jp_arch_restorer_get(kernel, action);
    jp_local_to_sigset(&action->sa_mask, kernel->mask);
}

static void to_kernel(struct jp_arch_action *kernel,
                      const struct sigaction *action)
{
    kernel->handler = action->sa_handler;
    kernel->flags = (unsigned)action->sa_flags;
    jp_arch_restorer_set(kernel, action);
    kernel->mask = jp_local_bits(&action->sa_mask);
}

/* The C library refuses its own two signals; the kernel does not. */
long jp_dispositions_syscall(jp_syscall_function *real, const long a[7])
{
    const int signal = (int)a[1];
    struct jp_arch_action kernel = {0};
    struct sigaction asked, old;
    if (a[4] != sizeof(uint64_t) || signal < 1 || signal > 64 || signal == 32 ||
        signal == 33 ||
        (a[2] != 0 && jp_self_read_sig((uint64_t)a[2], &kernel,
                                       sizeof(kernel)) != (long)sizeof(kernel)))
        return real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    if (a[2] != 0)
        from_kernel(&asked, &kernel);
    /* Fails if the kernel cannot write to the old action's address. */
    if (a[3] != 0 && real(a[0], signal, 0, a[3], a[4], 0, 0) != 0)
        return -1;
    const int result =
        jp_signals_action(signal, a[2] != 0 ? &asked : NULL, &old);
    if (result == 0 && a[3] != 0) {
        to_kernel(&kernel, &old);
        memcpy((void *)(uintptr_t)a[3], &kernel, sizeof(kernel));
    }
    return result;
}

static handler_function *bsd(int number, handler_function *handler)
{
    const uint64_t bit = number > 0 && number <= 64 ? JP_SIGSET(number) : 0;
    return set(number, handler,
               (atomic_load(&interrupting) & bit) != 0 ? 0 : SA_RESTART, bit);
}

JP_HOOK(handler_function *, signal, (int number, handler_function *handler))
{
    return bsd(number, handler);
}

JP_HOOK(handler_function *, bsd_signal, (int number, handler_function *handler))
{
    return bsd(number, handler);
}

JP_HOOK(handler_function *, ssignal, (int number, handler_function *handler))
{
    return bsd(number, handler);
}

/* System V's signal: the handler runs once, without blocking the signal
 * (signal(2)). */
static handler_function *sysv(int number, handler_function *handler)
{
    return set(number, handler, (int)(SA_RESETHAND | SA_NODEFER), 0);
}

JP_HOOK(handler_function *, sysv_signal,
        (int number, handler_function *handler))
{
    return sysv(number, handler);
}

JP_HOOK(handler_function *, __sysv_signal,
        (int number, handler_function *handler))
{
    return sysv(number, handler);
}

JP_HOOK(int, siginterrupt, (int number, int flag))
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0)
        return -1;
    if (flag) {
        atomic_fetch_or(&interrupting, JP_SIGSET(number));
        action.sa_flags &= ~SA_RESTART;
    } else {
        atomic_fetch_and(&interrupting, ~JP_SIGSET(number));
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(number, &action, NULL);
}

JP_HOOK(int, sigignore, (int number))
{
    return set(number, SIG_IGN, 0, 0) == SIG_ERR ? -1 : 0;
}

/* sigset(3) also changes the mask; SIG_HOLD means blocked. */
JP_HOOK(handler_function *, sigset, (int number, handler_function *handler))
{
    sigset_t one, before;
    struct sigaction old;
    sigemptyset(&one);
    if (handler == SIG_ERR || sigaddset(&one, number) != 0) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (handler != SIG_HOLD)
        old.sa_handler = set(number, handler, 0, 0);
    else if (sigaction(number, NULL, &old) != 0)
        return SIG_ERR;
    if (old.sa_handler == SIG_ERR)
        return SIG_ERR;
    if (sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &one,
                    &before) != 0)
        return SIG_ERR;
    return sigismember(&before, number) ? SIG_HOLD : old.sa_handler;
}
