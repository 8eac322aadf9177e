/* SPDX-License-Identifier: MIT
 *
 * jprof's handler in the kernel's table of actions, and the lock of what the
 * hooks remember of that table.
 * Runs in: any thread, the program's handlers. */
#include "kernel.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "program.h"
#include "sig/critical.h"
#include "sig/entry.h"
#include "sig/os/filter.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/process.h"

#define LOCK_YIELDS 1000

static _Atomic int locked;
static int installed; /* 1: jprof's handler is installed */

static jp_sigaction_function *set_action;

void jp_kernel_begin(jp_sigaction_function *otherwise)
{
    *(void **)&set_action = jp_real_of_libc("sigaction");
    if (set_action == NULL)
        set_action = otherwise;
}

uint64_t jp_kernel_lock(void)
{
    uint64_t mask = jp_critical_begin_sig();
    while (atomic_exchange(&locked, 1) != 0)
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    return mask;
}

int jp_kernel_try_lock(uint64_t *mask)
{
    *mask = jp_critical_begin_sig();
    for (unsigned i = 0; i < LOCK_YIELDS; i++) {
        if (atomic_exchange(&locked, 1) == 0)
            return 1;
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    jp_critical_end_sig(*mask);
    return 0;
}

void jp_kernel_unlock(uint64_t mask)
{
    const uint64_t clock = atomic_load(&jp_owned.unblocked);
    atomic_store(&locked, 0);
    mask = (mask | jp_local.program_blocked) & ~clock;
    jp_local.program_blocked &= clock;
    jp_critical_end_sig(mask);
}

void jp_kernel_release(uint64_t mask)
{
    atomic_store(&locked, 0);
    jp_critical_end_sig(mask);
}

int jp_kernel_is_in(int signal, const _Atomic uint64_t *set)
{
    return (atomic_load(set) & JP_SIGSET(signal)) != 0;
}

int jp_kernel_is_hushed(void)
{
    return atomic_load(&jp_owned.hushed) != 0;
}

int jp_kernel_install(int signal, int hush)
{
    struct sigaction action = {.sa_sigaction = jp_entry_handler(),
                               .sa_flags =
                                   SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    if (hush)
        action = (struct sigaction){.sa_handler = SIG_IGN};
    /* No handler of the program's may run inside jprof's: it could leave by
     * siglongjmp, and the C library's cancellation signal (which sigfillset
     * leaves out) by unwinding.  Those in `open` are put off or ignored. */
    memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
    jp_local_to_sigset(&action.sa_mask, ~atomic_load(&jp_owned.open));
    return set_action(signal, &action, NULL);
}

int jp_kernel_install_ours(int but, int hush)
{
    installed = 1;
    int result = 0;
    for (int signal = 1; signal <= 64; signal++) {
        if (jp_kernel_is_in(signal, &jp_owned.ours) && signal != but)
            result |= jp_kernel_install(signal, hush);
    }
    return result;
}

int jp_kernel_may_come(int signal, const struct sigaction *kernel)
{
    if (jp_kernel_is_in(signal, &jp_owned.ours))
        return 0;
    if (kernel->sa_sigaction == jp_entry_trap())
        return 1;
    if (kernel->sa_handler == SIG_DFL)
        return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG ||
               signal == SIGWINCH;
    return kernel->sa_handler == SIG_IGN ||
           (kernel->sa_sigaction == jp_program_entry() &&
            (kernel->sa_flags & (int)SA_RESETHAND) == 0 &&
            !jp_process.in_valgrind);
}

void jp_kernel_sort(int signal, const struct sigaction *kernel)
{
    const uint64_t bit = JP_SIGSET(signal);
    const uint64_t before = atomic_load(&jp_owned.open);
    const uint64_t now =
        jp_kernel_may_come(signal, kernel) ? before | bit : before & ~bit;
    atomic_store(&jp_owned.open, now);
    if ((now & bit) != 0 && kernel->sa_sigaction != jp_program_entry() &&
        kernel->sa_sigaction != jp_entry_trap())
        atomic_fetch_or(&jp_owned.ignored, bit);
    else
        atomic_fetch_and(&jp_owned.ignored, ~bit);
    if (now != before && installed)
        jp_kernel_install_ours(signal, jp_kernel_is_hushed());
}

/* So many calls of the program's hand actions on: the handler is there, though
 * hushed. */
static int handing;

int jp_kernel_hush(int on)
{
    const uint64_t mask = jp_kernel_lock();
    const int changes = jp_kernel_is_hushed() != on;
    atomic_store(&jp_owned.hushed, (uint32_t)on);
    if (changes)
        jp_kernel_install_ours(0, on);
    jp_kernel_unlock(mask);
    return changes;
}

void jp_kernel_exec(int begins)
{
    if (!jp_kernel_is_hushed() || jp_filter_number_sig(SYS_rt_sigaction) != 0)
        return;
    const int error = errno;
    if (jp_local_is_vfork_child()) {
        /* It has a table of actions of its own, and its parent's lock. */
        jp_kernel_install_ours(0, !begins);
    } else {
        const uint64_t mask = jp_kernel_lock();
        handing += begins ? 1 : -1;
        jp_kernel_install_ours(0, handing <= 0);
        jp_kernel_unlock(mask);
    }
    errno = error;
}

void jp_kernel_forked(void)
{
    atomic_store(&locked, 0);
    handing = 0;
    if (jp_kernel_is_hushed() &&
        atomic_load(&jp_process.ended) != JP_ENDED_FOR_ALL)
        jp_kernel_hush(0);
}
