/* SPDX-License-Identifier: MIT
 *
 * Signal dispositions.  Some runtimes set every signal to its default action
 * when they start (Node does), and the next timer's signal would then end the
 * program.  So the kernel keeps jprof's handler, and the action that the
 * program asked for is remembered and told when it asks.  A signal for which
 * the program sets a handler, or that it waits for, is the program's from then
 * on, with all the flags and the mask that it asked for; the clock then takes
 * another signal.
 * Runs in: any thread, the program's handlers. */
#include "signals.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "drain.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "kernel.h"
#include "program.h"
#include "sig/clock/clock.h"
#include "sig/clock/process_timer.h"
#include "sig/entry.h"
#include "sig/files/notes.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/process.h"
#include "sig/trap.h"

/* Real-time signals below this one are glibc's own. */
#define FIRST_FREE 35

/* Whether to wait until the signal that the clock leaves is pending nowhere:
 * not in jprof's handler. */
enum drains { NO_DRAIN, DRAIN };

static int real_sigaction(int signal, const struct sigaction *action,
                          struct sigaction *old)
{
    JP_REAL_DECLARED(sigaction)
    return real(signal, action, old);
}

static int is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* The highest real-time signal whose action is the default; 0: there is
 * none. */
static int find_spare(void)
{
    for (int signal = 64; signal >= FIRST_FREE; signal--) {
        struct sigaction action;
        if (!jp_kernel_is_in(signal, &jp_owned.ever) &&
            real_sigaction(signal, NULL, &action) == 0 &&
            action.sa_handler == SIG_DFL)
            return signal;
    }
    return 0;
}

/* Whether synchronous faults raise the signal.  Such handlers are not wrapped:
 * they end no calls, and look at the frame that called them. */
static int is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
           signal == SIGFPE || signal == SIGTRAP || signal == SIGSYS;
}

/* Whether jprof itself may raise the signal by a fault, which it survives
 * while the program leaves the signal to its default action (sig/trap.h). */
static int is_trap(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS;
}

/* The action that the kernel gets for such a signal. */
static struct sigaction trap(void)
{
    struct sigaction action = {.sa_sigaction = jp_entry_trap(),
                               .sa_flags =
                                   SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
    return action;
}

/* The action that the kernel gets for the program's `action`, which is
 * remembered in jp_programs. */
static struct sigaction wrapped(int signal, const struct sigaction *action)
{
    struct sigaction kernel = *action;
    const uint64_t mask = jp_local_bits(&action->sa_mask);
    /* The C library's own two are left out: by them a thread in jprof's work is
     * recognised (JP_SIGNALS_LIBC). */
    const uint64_t kept = atomic_load(&jp_owned.unblocked) | JP_SIGNALS_LIBC;
    uint64_t handler = (uint64_t)action->sa_handler;
    const int was_ours = jp_kernel_is_in(signal, &jp_owned.ever);
    jp_programs[signal].stripped = mask & kept;
    jp_programs[signal].asked = *action;
    /* The kernel ignores these two in any mask. */
    jp_local_to_sigset(&jp_programs[signal].asked.sa_mask,
                       mask & ~(JP_SIGSET(SIGKILL) | JP_SIGSET(SIGSTOP)));
    jp_local_to_sigset(&kernel.sa_mask, mask & ~kept);
    if (action->sa_handler == SIG_DFL && is_trap(signal))
        return trap();
    if (action->sa_handler == SIG_IGN ||
        (action->sa_handler == SIG_DFL && !was_ours) || is_fault(signal))
        return kernel;
    if (is_handler(action) && (action->sa_flags & SA_SIGINFO) != 0)
        handler |= JP_PROGRAM_SIGINFO;
    /* The kernel would reset the handler for one of jprof's late signals,
     * too. */
    if (was_ours && (action->sa_flags & SA_RESETHAND) != 0) {
        handler |= is_handler(action) ? JP_PROGRAM_ONCE : 0;
        kernel.sa_flags &= ~(int)SA_RESETHAND;
    }
    atomic_store(&jp_programs[signal].handler, handler);
    kernel.sa_sigaction = jp_program_entry();
    kernel.sa_flags |= SA_SIGINFO;
    return kernel;
}

/* Turns the kernel's action into the one that the program is to see.  program:
 * the signal's entry before it was changed. */
static void unwrap(int signal, struct sigaction *kernel,
                   const struct jp_program *program)
{
    const uint64_t handler = atomic_load(&program->handler);
    if (kernel->sa_sigaction == jp_entry_trap()) {
        *kernel = program->asked;
        return;
    }
    if (kernel->sa_sigaction == jp_program_entry()) {
        if (jp_kernel_is_in(signal, &jp_owned.ever)) {
            *kernel = program->asked;
            if (handler == (uint64_t)SIG_DFL)
                kernel->sa_handler = SIG_DFL;
            return;
        }
        const uint64_t address = handler & JP_PROGRAM_ADDRESS;
        memcpy(&kernel->sa_handler, &address, sizeof(address));
        if ((handler & JP_PROGRAM_SIGINFO) == 0)
            kernel->sa_flags &= ~SA_SIGINFO;
    }
    jp_local_to_sigset(&kernel->sa_mask,
                       jp_local_bits(&kernel->sa_mask) | program->stripped);
}

/* Updates jp_trapped for a signal whose action has changed. */
static void tell_trap(int signal, const struct sigaction *kernel)
{
    if (kernel->sa_sigaction == jp_entry_trap())
        atomic_fetch_or(&jp_trapped, JP_SIGSET(signal));
    else
        atomic_fetch_and(&jp_trapped, ~JP_SIGSET(signal));
}

/* Carries out sigaction for a signal that is the program's. */
static int theirs(int signal, const struct sigaction *action,
                  struct sigaction *old)
{
    struct jp_program before = jp_programs[signal];
    struct sigaction kernel, seen;
    if (action != NULL)
        kernel = wrapped(signal, action);
    int result = real_sigaction(signal, action != NULL ? &kernel : NULL, &seen);
    if (result != 0) {
        jp_programs[signal] = before;
        return result;
    }
    if (action != NULL) {
        tell_trap(signal, &kernel);
        jp_kernel_sort(signal, &kernel);
    }
    if (old != NULL) {
        unwrap(signal, &seen, &before);
        *old = seen;
    }
    return 0;
}

/* Puts a signal that is the program's now back into the masks of its handlers
 * that asked for it. */
static void give_back_masks(uint64_t bit)
{
    for (int signal = 1; signal <= 64; signal++) {
        struct sigaction action;
        if ((jp_programs[signal].stripped & bit) == 0 ||
            real_sigaction(signal, NULL, &action) != 0)
            continue;
        jp_programs[signal].stripped &= ~bit;
        jp_local_to_sigset(&action.sa_mask,
                           jp_local_bits(&action.sa_mask) | bit);
        real_sigaction(signal, &action, NULL);
    }
}

/* Looks for another spare signal, installs the handler for it, and has the slow
 * timer send it. */
static void replace_spare(void)
{
    const int spare = find_spare();
    if (spare != 0) {
        jp_kernel_install(spare, jp_kernel_is_hushed());
        atomic_fetch_or(&jp_owned.ever, JP_SIGSET(spare));
        atomic_fetch_or(&jp_owned.ours, JP_SIGSET(spare));
        atomic_fetch_or(&jp_owned.unblocked, JP_SIGSET(spare));
    }
    jp_owned_spare_sig(spare);
    jp_process_timer_change_sig();
}

/* Notes that the clock has moved to another signal, maybe one that it had
 * before; or that no signal was free, so that it shares the one it has. */
static void note_clock(int moved)
{
    const uint32_t notes = atomic_load(&jp_process.notes);
    if (moved)
        jp_note_sig(JP_NOTE_CLOCK_MOVED);
    else if ((notes & JP_NOTE_CLOCK_MOVED) != 0)
        jp_note_sig(JP_NOTE_CLOCK_SHARED_NEXT);
    else
        jp_note_sig(JP_NOTE_CLOCK_SHARED);
}

/* Gives one of jprof's signals to the program.  If it is the clock's, moves the
 * clock to another; if no signal is free, the clock shares this one:
 * jp_program_handler tells the clock's signals from the program's. */
static void give(int signal, enum drains drains)
{
    const uint64_t bit = JP_SIGSET(signal);
    const int is_clock = signal == jp_process.signal;
    if (signal == jp_config.pause_signal)
        jp_note_sig(JP_NOTE_PAUSE_TAKEN);
    if (signal == jp_config.clear_signal)
        jp_note_sig(JP_NOTE_CLEAR_TAKEN);
    if (signal == jp_owned.spare)
        replace_spare();
    const int next = is_clock ? jp_owned_next_sig(signal) : 0;
    atomic_fetch_and(&jp_owned.ours, ~bit);
    if (is_clock) {
        note_clock(next != 0);
        if (next != 0) {
            jp_clock_move_sig(next);
            if (drains == DRAIN)
                jp_drain(signal);
        }
    }
    atomic_fetch_and(&jp_owned.unblocked, ~bit);
    give_back_masks(bit);
}

/* Gives a signal to the program, with the action that it last asked for. */
static void use(int signal, enum drains drains)
{
    const int control = jp_owned_is_control_sig(signal);
    const struct sigaction asked = jp_programs[signal].asked;
    give(signal, drains);
    /* No late signals of jprof's can come by a control signal. */
    if (control)
        atomic_fetch_and(&jp_owned.ever, ~JP_SIGSET(signal));
    theirs(signal, &asked, NULL);
}

void jp_signals_use(uint64_t set)
{
    if (!jp_process_ready_sig() || (atomic_load(&jp_owned.ours) & set) == 0 ||
        jp_local_is_vfork_child())
        return;
    uint64_t mask = jp_kernel_lock();
    for (int signal = 1; signal <= 64; signal++) {
        if ((set & JP_SIGSET(signal)) != 0 &&
            jp_kernel_is_in(signal, &jp_owned.ours))
            use(signal, DRAIN);
    }
    jp_kernel_unlock(mask);
}

void jp_signals_use_unseen(int signal)
{
    const struct sigaction unknown = {.sa_handler = SIG_DFL};
    if (!jp_process_ready_sig() || jp_local_is_vfork_child())
        return;
    const uint64_t mask = jp_kernel_lock();
    if (jp_kernel_is_in(signal, &jp_owned.ours))
        use(signal, DRAIN);
    jp_kernel_sort(signal, &unknown);
    jp_kernel_unlock(mask);
}

void jp_signals_awaited(uint64_t set)
{
    uint64_t used = set & atomic_load(&jp_owned.ours);
    if (!jp_local_is_choice(set))
        used &= ~atomic_load(&jp_owned.unblocked);
    if (used != 0)
        jp_signals_use(used);
}

/* Gives a signal up in jprof's handler, by `gives`. */
static int yield(int signal, void (*gives)(int, enum drains))
{
    uint64_t mask;
    if (!jp_kernel_try_lock(&mask))
        return 0;
    if (jp_kernel_is_in(signal, &jp_owned.ours))
        gives(signal, NO_DRAIN);
    jp_kernel_release(mask);
    return 1;
}

int jp_signals_claim(int signal)
{
    return yield(signal, use);
}

int jp_signals_cede(int signal)
{
    return yield(signal, give);
}

/* Carries out sigaction for a signal that is jprof's: SIG_DFL is only
 * remembered; any other action takes the signal. */
static int ours(int signal, const struct sigaction *action,
                struct sigaction *old)
{
    const struct sigaction before = jp_programs[signal].asked;
    if (old != NULL)
        *old = before;
    if (action == NULL)
        return 0;
    if (action->sa_handler == SIG_DFL) {
        jp_programs[signal].asked = *action;
        return 0;
    }
    give(signal, DRAIN);
    return theirs(signal, action, NULL);
}

static int change(int signal, const struct sigaction *action,
                  struct sigaction *old)
{
    if (jp_kernel_is_in(signal, &jp_owned.ours))
        return ours(signal, action, old);
    if (action != NULL && action->sa_handler == SIG_DFL &&
        jp_owned_is_control_sig(signal)) {
        struct sigaction seen;
        theirs(signal, action, &seen);
        if (old != NULL)
            *old = seen;
        jp_kernel_install(signal, jp_kernel_is_hushed());
        atomic_fetch_or(&jp_owned.ours, JP_SIGSET(signal));
        jp_kernel_sort(signal, action);
        return 0;
    }
    return theirs(signal, action, old);
}

/* Carries out sigaction in a vfork child, which has its own table of actions
 * in the kernel but its parent's memory. */
static int sigaction_in_vfork_child(int signal, const struct sigaction *action,
                                    struct sigaction *old)
{
    struct sigaction seen;
    int result = real_sigaction(signal, action, &seen);
    if (result != 0 || old == NULL)
        return result;
    if (seen.sa_sigaction == jp_entry_handler() ||
        (jp_kernel_is_hushed() && jp_kernel_is_in(signal, &jp_owned.ours)))
        seen = jp_programs[signal].asked;
    else
        unwrap(signal, &seen, &jp_programs[signal]);
    *old = seen;
    return 0;
}

int jp_signals_action(int signal, const struct sigaction *action,
                      struct sigaction *old)
{
    if (!jp_process_ready_sig() || signal < 1 || signal > 64)
        return real_sigaction(signal, action, old);
    if (action != NULL && jp_local_is_vfork_child())
        return sigaction_in_vfork_child(signal, action, old);
    struct sigaction asked, seen;
    /* The program's memory is not touched under the lock, as it may fault. */
    if (action != NULL)
        asked = *action;
    uint64_t mask = jp_kernel_lock();
    int result = change(signal, action != NULL ? &asked : NULL, &seen);
    const int error = errno;
    jp_kernel_unlock(mask);
    errno = error;
    if (result == 0 && old != NULL)
        *old = seen;
    return result;
}

JP_HOOK(int, sigaction,
        (int signal, const struct sigaction *action, struct sigaction *old))
{
    return jp_signals_action(signal, action, old);
}

JP_HOOK(int, __sigaction,
        (int signal, const struct sigaction *action, struct sigaction *old))
{
    return jp_signals_action(signal, action, old);
}

static void set_traps(void)
{
    for (int signal = 1; signal <= 64; signal++) {
        struct sigaction action;
        if (is_trap(signal) && real_sigaction(signal, NULL, &action) == 0 &&
            action.sa_handler == SIG_DFL)
            theirs(signal, &action, NULL);
    }
}

int jp_signals_install(uint64_t used)
{
    jp_kernel_begin(real_sigaction);
    jp_owned_init_sig(find_spare(), (uint64_t)jp_entry_handler());
    for (int signal = 1; signal <= 64; signal++) {
        struct sigaction action = {.sa_flags = 0};
        if (real_sigaction(signal, NULL, &action) == 0 &&
            jp_kernel_may_come(signal, &action)) {
            atomic_fetch_or(&jp_owned.open, JP_SIGSET(signal));
            atomic_fetch_or(&jp_owned.ignored, JP_SIGSET(signal));
        }
    }
    set_traps();
    for (int signal = 1; signal <= 64; signal++) {
        struct sigaction before;
        if (!jp_kernel_is_in(signal, &jp_owned.ours))
            continue;
        real_sigaction(signal, NULL, &before);
        jp_programs[signal].asked = before;
        if (before.sa_handler == SIG_DFL && (used & JP_SIGSET(signal)) == 0)
            continue;
        give(signal, DRAIN);
        /* Setting SIG_IGN again would discard a pending signal. */
        if (before.sa_handler != SIG_IGN)
            theirs(signal, &before, NULL);
        else
            jp_kernel_sort(signal, &before);
    }
    /* Only now, as its mask depends on jp_owned.open. */
    return jp_kernel_install_ours(0, 0) == 0 ? 0 : errno;
}
