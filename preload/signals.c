/* SPDX-License-Identifier: MIT
 *
 * Signal dispositions.  Some runtimes set every signal back to its default
 * when they start (Node does), which would turn the next timer's signal into
 * the program's death; so the kernel keeps jprof's handler, and the program's
 * wish is remembered and answered.  A real handler for a control signal gets
 * that signal for good.
 * Runs in: any thread. */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "real.h"
#include "sig/handler.h"
#include "sig/process.h"
#include "sig/sys.h"

typedef int sigaction_function(int, const struct sigaction *,
                               struct sigaction *);

typedef void handler_function(int);
typedef handler_function *signal_function(int, handler_function *);

static int real_sigaction(int signal, const struct sigaction *action,
                          struct sigaction *old)
{
    JP_REAL(sigaction_function, sigaction)
    return real(signal, action, old);
}

static void install(int signal)
{
    struct sigaction action = {.sa_sigaction = jp_handler_sig,
                               .sa_flags =
                                   SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    /* No handler of the program's may run inside ours: it could leave by
     * siglongjmp, and the C library's cancellation signal (which sigfillset
     * leaves out) by unwinding. */
    memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
    real_sigaction(signal, &action, NULL);
}

static int is_control(int signal)
{
    return (signal == SIGUSR1 || signal == SIGUSR2) &&
           signal != jp_process.signal;
}

/* The program's wish for one of jprof's signals: a handler of its own for a
 * control signal, or its being ignored (which exec hands on), is granted. */
static int change(int signal, const struct sigaction *action)
{
    struct jp_program_action *program = &jp_program_actions[signal];
    program->action = *action;
    if (!is_control(signal)) {
        if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
            jp_note_sig(JP_NOTE_CLOCK_SHARED);
        return 0;
    }
    if (action->sa_handler == SIG_DFL) {
        if (program->given)
            install(signal);
        program->given = 0;
        return 0;
    }
    program->given = 1;
    jp_note_sig(signal == SIGUSR1 ? JP_NOTE_SIGUSR1_TAKEN
                                  : JP_NOTE_SIGUSR2_TAKEN);
    return real_sigaction(signal, action, NULL);
}

void jp_signals_install(void)
{
    const uint64_t ours = jp_handler_signals_sig();
    for (int signal = 1; signal < 64; signal++) {
        if ((ours & JP_SIGSET(signal)) == 0)
            continue;
        struct sigaction before;
        real_sigaction(signal, NULL, &before);
        if (change(signal, &before) == 0 &&
            !jp_program_actions[signal].given)
            install(signal);
    }
}

static int is_ours(int signal)
{
    return jp_owned_sig() && signal > 0 && signal < 64 &&
           (jp_handler_signals_sig() & JP_SIGSET(signal)) != 0;
}

JP_EXPORT int sigaction(int signal, const struct sigaction *action,
                        struct sigaction *old)
{
    if (!is_ours(signal))
        return real_sigaction(signal, action, old);
    const struct sigaction before = jp_program_actions[signal].action;
    int result = action != NULL ? change(signal, action) : 0;
    if (result == 0 && old != NULL)
        *old = before;
    return result;
}

JP_EXPORT handler_function *signal(int number, handler_function *handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sigaction old;
    if (!is_ours(number)) {
        JP_REAL(signal_function, signal)
        return real(number, handler);
    }
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
