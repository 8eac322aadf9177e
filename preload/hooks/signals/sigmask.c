/* SPDX-License-Identifier: MIT
 *
 * Hooks of signal masks.  What the program blocks is blocked, but for the
 * clock's signals; when it asks for its mask, it gets the mask that it set.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "sig/critical.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/process.h"
#include "signals.h"

/* A set of blocked signals after a call with `how` and `set`. */
static uint64_t change_blocked(int how, uint64_t blocked, uint64_t set)
{
    if (how == SIG_BLOCK)
        return blocked | set;
    return how == SIG_UNBLOCK ? blocked & ~set : set;
}

/* Remembers which of these signals, which the program blocks now, it blocks by
 * name.  That moves no clock: most such blocks are undone a moment later.  Only
 * a signal that is sent meanwhile does (jp_program_claim). */
static void name(uint64_t set)
{
    if (jp_local_is_choice(set))
        jp_local.named |= set;
    else
        jp_local.named &= ~set;
}

/* Carries out a change of the mask; set: NULL to only ask.  Sets *old to the
 * mask before, as the program believes it.  Returns 0 or an errno.  In jprof's
 * handler libunwind changes the mask around its locks: nothing may come through
 * there, least of all a handler of the program's, so the mask stays. */
static int change(int how, const uint64_t *set, uint64_t *old)
{
    uint64_t kernel;
    if (set != NULL && how != SIG_BLOCK && how != SIG_UNBLOCK &&
        how != SIG_SETMASK)
        return EINVAL;
    if (jp_critical_depth != 0 && jp_critical_masked_sig(old))
        return 0;
    const uint64_t clock = atomic_load(&jp_owned.unblocked);
    const uint64_t before = jp_local.program_blocked;
    /* Blocks signals that were jprof's when the program blocked them, and are
     * the program's now. */
    if ((before & ~clock) != 0)
        jp_sys_sigmask_sig(SIG_BLOCK, before & ~clock, NULL);
    if (set == NULL) {
        jp_sys_sigmask_sig(SIG_BLOCK, 0, &kernel);
        jp_local.program_blocked &= clock;
    } else {
        uint64_t wanted = *set & ~JP_SIGNALS_LIBC; /* as glibc */
        if (how != SIG_UNBLOCK) {
            wanted &= ~clock;
            name(*set & ~before);
        }
        jp_local.program_blocked = change_blocked(how, before, *set) & clock;
        jp_sys_sigmask_sig(how, wanted, &kernel);
    }
    *old = (kernel & ~clock) | (before & clock);
    return 0;
}

static int change_set(int how, const sigset_t *set, sigset_t *old)
{
    uint64_t wanted = set != NULL ? jp_local_bits(set) : 0, before;
    int error = change(how, set != NULL ? &wanted : NULL, &before);
    if (error == 0 && old != NULL)
        jp_local_to_sigset(old, before);
    return error;
}

/* Returns whether the caller is a vfork child, and tells the hooks: it has a
 * mask of its own, which its exec will hand on, but its parent's memory. */
static int enter_vfork_child(void)
{
    if (!jp_local_is_vfork_child())
        return 0;
    jp_local_begin_vfork_child();
    return 1;
}

JP_ALSO(pthread_sigmask, JP_ARCH_GLIBC);
JP_HOOK(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old))
{
    JP_REAL(pthread_sigmask)
    return enter_vfork_child() ? real(how, set, old)
                               : change_set(how, set, old);
}

static int fail(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

JP_HOOK(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old))
{
    JP_REAL(sigprocmask)
    return enter_vfork_child() ? real(how, set, old)
                               : fail(change_set(how, set, old));
}

/* sighold(3), sigrelse(3), sigblock(3) and its siblings are made of the same
 * change. */
static int change_one(int how, int signal)
{
    sigset_t one;
    sigemptyset(&one);
    return sigaddset(&one, signal) != 0 ? -1 : sigprocmask(how, &one, NULL);
}

JP_HOOK(int, sighold, (int signal))
{
    return change_one(SIG_BLOCK, signal);
}

JP_HOOK(int, sigrelse, (int signal))
{
    return change_one(SIG_UNBLOCK, signal);
}

static int change_old(int how, int bits)
{
    const uint64_t wanted = (uint32_t)bits;
    uint64_t before = 0;
    return fail(change(how, &wanted, &before)) != 0 ? -1 : (int)before;
}

JP_HOOK(int, sigblock, (int bits))
{
    JP_REAL(sigblock)
    return enter_vfork_child() ? real(bits) : change_old(SIG_BLOCK, bits);
}

JP_HOOK(int, sigsetmask, (int bits))
{
    JP_REAL(sigsetmask)
    return enter_vfork_child() ? real(bits) : change_old(SIG_SETMASK, bits);
}

JP_HOOK(int, siggetmask, (void))
{
    JP_REAL(siggetmask)
    return enter_vfork_child() ? real() : change_old(SIG_BLOCK, 0);
}
