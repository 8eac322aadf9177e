/* SPDX-License-Identifier: MIT
 *
 * The sets of jprof's signals.
 * Runs in: handler, any thread. */
#include "owned_signals.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "sig/clock/clock.h"
#include "sig/files/notes.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

struct jp_owned_signals jp_owned;

static uint64_t bit_sig(int signal)
{
    return signal > 0 ? JP_SIGSET(signal) : 0;
}

static const struct jp_owned_listener *listens;

void jp_owned_listen_sig(const struct jp_owned_listener *listener)
{
    listens = listener;
}

int jp_owned_is_claimed_sig(int signal, siginfo_t *info, ucontext_t *context)
{
    return listens != NULL &&
           (atomic_load(&jp_owned.unblocked) & bit_sig(signal)) != 0 &&
           listens->sent(signal, info, context);
}

static uint64_t handler; /* address of jp_handler_sig */

void jp_owned_spare_sig(int spare)
{
    jp_owned.spare = spare;
    jp_process.watching = spare != 0 ? spare : jp_process.signal;
}

void jp_owned_init_sig(int spare, uint64_t address)
{
    uint64_t unblocked =
        bit_sig(SIGPROF) | bit_sig(jp_process.signal) | bit_sig(spare);
    uint64_t ours = unblocked | bit_sig(jp_config.pause_signal) |
                    bit_sig(jp_config.save_signal) |
                    bit_sig(jp_config.start_signal);
    if (jp_config.ring_bytes != 0)
        ours |= bit_sig(jp_config.clear_signal);
    handler = address;
    jp_owned_spare_sig(spare);
    atomic_store(&jp_owned.ours, ours);
    atomic_store(&jp_owned.ever, ours);
    atomic_store(&jp_owned.unblocked, unblocked);
}

int jp_owned_is_control_sig(int signal)
{
    if ((atomic_load(&jp_owned.unblocked) & bit_sig(signal)) != 0)
        return 0;
    return signal == jp_config.pause_signal ||
           signal == jp_config.save_signal ||
           signal == jp_config.start_signal ||
           (signal == jp_config.clear_signal && jp_config.ring_bytes != 0);
}

int jp_owned_has_value_sig(const siginfo_t *info)
{
    if (jp_clock_is_value_sig(info))
        return 1;
    return (info->si_code == SI_TIMER || info->si_code == SI_QUEUE) &&
           ((uint32_t)info->si_value.sival_int & JP_CONTROL_MASK) ==
               JP_CONTROL_MAGIC;
}

/* The kernel's handler of a signal; `handler` if a filter forbids to ask. */
static uint64_t handler_of_sig(int signal)
{
    /* The kernel's struct sigaction: handler, flags, restorer, mask
     * (rt_sigaction(2)). */
    uint64_t action[4] = {0};
    return jp_sys_sig(SYS_rt_sigaction, signal, 0, (long)action,
                      sizeof(uint64_t), 0) == 0
               ? action[0]
               : handler;
}

static int is_replaced_sig(int signal)
{
    return atomic_load(&jp_owned.hushed) == 0 &&
           (atomic_load(&jp_owned.ours) & bit_sig(signal)) != 0 &&
           handler_of_sig(signal) != handler;
}

void jp_owned_check_sig(void)
{
    if (is_replaced_sig(jp_process.signal))
        jp_note_sig(JP_NOTE_CLOCK_LOST);
}

void jp_owned_watch_sig(void)
{
    const int signal = jp_process.signal;
    if (atomic_exchange(&jp_owned.heard, 0) == 0 && listens != NULL &&
        is_replaced_sig(signal) && listens->replaced(signal))
        jp_note_sig(JP_NOTE_CLOCK_REPLACED);
}

int jp_owned_next_sig(int taken)
{
    const uint64_t ours = atomic_load(&jp_owned.ours) & ~bit_sig(taken);
    /* (Before jprof's handlers are installed, it is the default action, 0.) */
    if ((ours & JP_SIGSET(SIGPROF)) != 0 &&
        (handler_of_sig(SIGPROF) == 0 || !is_replaced_sig(SIGPROF)))
        return SIGPROF;
    return (ours & bit_sig(jp_owned.spare)) != 0 ? jp_owned.spare : 0;
}
