/* SPDX-License-Identifier: MIT
 *
 * Signals that the program uses although it has called no hook: it has
 * inherited the use from the program that execed it, somebody sends a signal
 * that it has blocked by name, or it has set a handler past the hooks.
 * Runs in: constructor (jp_claims_install), handler. */
#include "claims.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "hooks/base/local.h"
#include "program.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/process.h"
#include "signals.h"

static int is_armed(int which)
{
    struct itimerval timer = {{0, 0}, {0, 0}};
    jp_sys_sig(SYS_getitimer, which, (long)&timer, 0, 0, 0);
    return timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
}

/* Signals that the program uses from its start although their action is the
 * default: the process that execed it has left them pending, or has set a timer
 * (alarm and exec is how a program's time is limited). */
static uint64_t inherited(void)
{
    uint64_t waiting = 0, pending = 0;
    if (is_armed(ITIMER_REAL))
        waiting |= JP_SIGSET(SIGALRM);
    if (jp_process.clock->itimer_signal != SIGPROF && is_armed(ITIMER_PROF))
        waiting |= JP_SIGSET(SIGPROF);
    jp_sys_sig(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0);
    return waiting | pending;
}

/* Takes away what the clock has sent by this signal before it left it: one of
 * the program's that is sent now would be lost, as a signal below 32 is pending
 * once only.  Sends again what somebody else had sent. */
static void make_room(int signal, ucontext_t *context)
{
    const uint64_t bit = JP_SIGSET(signal);
    const struct timespec none = {0, 0};
    siginfo_t info;
    if (jp_sys_sig(SYS_rt_sigtimedwait, (long)&bit, (long)&info, (long)&none,
                   sizeof(bit), 0) == signal &&
        !jp_owned_has_value_sig(&info))
        jp_program_defer(signal, &info, context);
}

/* Called in jprof's handler for a signal of the clock's that somebody sent.  If
 * the program has blocked the signal by name in this thread, it is the
 * program's from now on, and waits, as it would without jprof.  Returns whether
 * that is so. */
static int sent(int signal, siginfo_t *info, ucontext_t *context)
{
    const uint64_t bit = JP_SIGSET(signal);
    /* In valgrind a changed context is forgotten (see put_off). */
    if ((jp_local.program_blocked & jp_local.named & bit) == 0 ||
        jp_process.in_valgrind || !jp_signals_claim(signal))
        return 0;
    jp_local.program_blocked &= ~bit;
    make_room(signal, context);
    jp_program_defer(signal, info, context);
    return 1;
}

int jp_claims_install(void)
{
    static const struct jp_owned_listener listener = {sent, jp_signals_cede};
    const int error = jp_signals_install(inherited());
    jp_owned_listen_sig(&listener);
    return error;
}
