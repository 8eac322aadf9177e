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

#include "real.h"
#include "sig/handler.h"
#include "sig/process.h"
#include "sig/sys.h"

typedef int sigaction_function(int, const struct sigaction *,
                               struct sigaction *);

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
    const uint64_t ours = jp_handler_signals_sig();
    sigemptyset(&action.sa_mask);
    for (int other = 1; other < 64; other++) {
        if ((ours & JP_SIGSET(other)) != 0)
            sigaddset(&action.sa_mask, other);
    }
    real_sigaction(signal, &action, NULL);
}

void jp_signals_install(void)
{
    const uint64_t ours = jp_handler_signals_sig();
    for (int signal = 1; signal < 64; signal++) {
        if ((ours & JP_SIGSET(signal)) == 0)
            continue;
        real_sigaction(signal, NULL, &jp_program_actions[signal].action);
        install(signal);
    }
}

static int is_ours(int signal)
{
    return jp_owned_sig() && signal > 0 && signal < 64 &&
           (jp_handler_signals_sig() & JP_SIGSET(signal)) != 0;
}

static int is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* The program's wish for one of jprof's signals. */
static int change(int signal, const struct sigaction *action)
{
    struct jp_program_action *program = &jp_program_actions[signal];
    const int control = (signal == SIGUSR1 || signal == SIGUSR2) &&
                        signal != jp_process.signal;
    program->action = *action;
    if (!is_handler(action)) {
        if (program->given)
            install(signal);
        program->given = 0;
        return 0;
    }
    if (!control) {
        jp_note_sig(JP_NOTE_CLOCK_SHARED);
        return 0;
    }
    program->given = 1;
    jp_note_sig(signal == SIGUSR1 ? JP_NOTE_SIGUSR1_TAKEN
                                  : JP_NOTE_SIGUSR2_TAKEN);
    return real_sigaction(signal, action, NULL);
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

/* As glibc's signal(3): BSD semantics. */
JP_EXPORT void (*signal(int number, void (*handler)(int)))(int)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sigaction old;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    if (number > 0 && number < 65)
        sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
