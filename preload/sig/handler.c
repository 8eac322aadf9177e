/* SPDX-License-Identifier: MIT
 *
 * The signal handler: whose signal is it, and what is to be done.
 * Runs in: handler. */
#include "handler.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "clock.h"
#include "control.h"
#include "jit.h"
#include "kit.h"
#include "log.h"
#include "logfile.h"
#include "maps.h"
#include "names.h"
#include "process.h"
#include "rtc.h"
#include "slot.h"
#include "sys.h"
#include "walk.h"

struct jp_program_action jp_program_actions[65];

static void lose_sig(unsigned counter, uint64_t weight_ns)
{
    jp_count_sig(counter, 1);
    jp_count_sig(JP_COUNT_LOST_NS, weight_ns);
}

/* In real time, a thread that used less than half of the time since its last
 * sample was waiting. */
static enum jp_event real_event_sig(struct jp_slot *slot, uint64_t weight_ns)
{
    uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    uint64_t used = cpu - slot->cpu_ns;
    slot->cpu_ns = cpu;
    return used * 2 >= weight_ns ? JP_EVENT_WALL_RUNNING
                                 : JP_EVENT_WALL_BLOCKED;
}

/* Keeps a sample in the kit until there is a log.  Where one is kept already,
 * it stands for this one's time as well, as with what a tick merges. */
static void keep_sig(struct jp_kit *kit, const struct jp_sample *sample)
{
    if (kit->waiting) {
        kit->waiting_sample.weight_ns += sample->weight_ns;
        return;
    }
    memcpy(kit->last, kit->frames, kit->depth * sizeof(*kit->frames));
    kit->waiting_sample = *sample;
    kit->waiting_depth = kit->depth;
    kit->waiting_gap = kit->gap;
    kit->waiting = 1;
}

void jp_handler_flush_sig(struct jp_kit *kit)
{
    if (!kit->waiting || jp_logfile_ready_sig() != 0)
        return;
    kit->waiting = 0;
    memcpy(kit->frames, kit->last, kit->waiting_depth * sizeof(*kit->frames));
    kit->depth = kit->waiting_depth;
    kit->gap = kit->waiting_gap;
    jp_log_write_sig(kit, &kit->waiting_sample);
}

static void take_sig(struct jp_slot *slot, enum jp_event event,
                     uint64_t weight_ns, const ucontext_t *context)
{
    struct jp_sample sample = {jp_sys_clock_sig(CLOCK_MONOTONIC), weight_ns,
                               slot->tid, (uint8_t)event, 0};
    const int error = jp_logfile_ready_sig();
    if (error != 0 && error != -EAGAIN) {
        lose_sig(JP_COUNT_LOST_NO_LOG, weight_ns);
        return;
    }
    if (slot->kit == NULL)
        slot->kit = jp_kit_take_sig();
    if (slot->kit == NULL) {
        lose_sig(JP_COUNT_LOST_NO_MEMORY, weight_ns);
        return;
    }
    jp_handler_flush_sig(slot->kit);
    jp_maps_refresh_sig(sample.time_ns);
    jp_maps_check_kit_sig(slot->kit);
    sample.reason = (uint8_t)jp_walk_sig(slot, slot->kit, context);
    if (error != 0) {
        keep_sig(slot->kit, &sample);
        return;
    }
    if (jp_log_write_sig(slot->kit, &sample) != 0)
        return;
    if (slot->unnamed)
        jp_names_update_sig(slot);
    jp_jit_check_sig(slot->kit, sample.time_ns);
}

static void sample_sig(struct jp_slot *slot, enum jp_event event,
                       uint64_t weight_ns, const ucontext_t *context)
{
    if (atomic_exchange(&slot->busy, 1) != 0) {
        lose_sig(JP_COUNT_LOST_REENTRANT, weight_ns);
        return;
    }
    if (event != JP_EVENT_CPU && event != JP_EVENT_RAISED)
        event = real_event_sig(slot, weight_ns);
    take_sig(slot, event, weight_ns, context);
    atomic_store(&slot->busy, 0);
}

struct jp_slot *jp_handler_adopt_sig(uint64_t stack_high)
{
    struct jp_slot *slot = jp_slot_new_sig();
    if (slot == NULL)
        return NULL;
    slot->stack_high = stack_high;
    slot->adopted = stack_high == 0;
    jp_slot_begin_sig(slot, jp_sys_gettid_sig());
    return slot;
}

/* The calling thread's slot, or NULL when there are no more. */
static struct jp_slot *own_slot_sig(void)
{
    struct jp_slot *slot = jp_slot_by_tid_sig(jp_sys_gettid_sig());
    if (slot != NULL)
        return slot;
    slot = jp_handler_adopt_sig(0);
    if (slot == NULL)
        jp_count_sig(JP_COUNT_LOST_NO_SLOT, 1);
    else if (atomic_load(&jp_process.running))
        jp_clock_arm_sig(slot);
    return slot;
}

static int is_control_sig(const siginfo_t *info)
{
    return ((uint32_t)info->si_value.sival_int & JP_CONTROL_MASK) ==
           JP_CONTROL_MAGIC;
}

/* A timer's signal.  Returns whether it was jprof's. */
static int timer_sig(const siginfo_t *info, const ucontext_t *context)
{
    uint64_t value = (uint64_t)info->si_value.sival_ptr;
    if (value == (JP_CONTROL_MAGIC | JP_CONTROL_START)) {
        jp_control_sig(JP_CONTROL_START);
        return 1;
    }
    if (!jp_slot_is_value_sig(value))
        return 0;
    uint64_t weight = jp_clock_weight_sig(info->si_overrun);
    struct jp_slot *slot = jp_slot_by_value_sig(value);
    if (slot == NULL) {
        lose_sig(JP_COUNT_LOST_STALE, weight);
        return 1;
    }
    weight = jp_clock_early_sig(slot, weight);
    if (weight != 0)
        sample_sig(slot,
                   jp_process.clock == JP_CLOCK_THREAD_CPU
                       ? JP_EVENT_CPU
                       : JP_EVENT_WALL_RUNNING,
                   weight, context);
    /* A thread that began just as the profile was paused armed its timer
     * behind the back of the one who disarmed all. */
    if (!atomic_load(&jp_process.running))
        jp_clock_disarm_sig(slot);
    return 1;
}

/* A signal that somebody sent: starts the profile if it does not run, and is
 * a sample of the thread that it came to, as in the original. */
static void raised_sig(const ucontext_t *context)
{
    struct jp_slot *slot = own_slot_sig();
    if (slot == NULL)
        return;
    if (!atomic_load(&jp_process.running))
        jp_control_sig(JP_CONTROL_START);
    sample_sig(slot, JP_EVENT_RAISED, jp_config.period_ns, context);
}

/* What the program wanted done with a signal that is none of jprof's: its
 * handler runs under the mask that it would have had. */
static int forward_sig(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *action = &jp_program_actions[signal].action;
    const ucontext_t *interrupted = context;
    uint64_t mask, more;
    if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)
        return 0;
    memcpy(&mask, &interrupted->uc_sigmask, sizeof(mask));
    memcpy(&more, &action->sa_mask, sizeof(more));
    mask |= more;
    if ((action->sa_flags & SA_NODEFER) == 0)
        mask |= JP_SIGSET(signal);
    jp_sys_sigmask_sig(SIG_SETMASK, mask, NULL);
    if ((action->sa_flags & SA_SIGINFO) != 0)
        action->sa_sigaction(signal, info, context);
    else
        action->sa_handler(signal);
    return 1;
}

static void dispatch_sig(int signal, siginfo_t *info, void *context)
{
    if (info->si_code == SI_TIMER && timer_sig(info, context))
        return;
    /* A vfork child only borrows this memory. */
    if (jp_sys_getpid_sig() != jp_owner->pid)
        return;
    if (signal == SIGPROF && info->si_code == SI_QUEUE &&
        is_control_sig(info)) {
        jp_control_sig((enum jp_control)(info->si_value.sival_int & 0xff));
        return;
    }
    if (signal == SIGIO && info->si_code > 0 && jp_rtc_is_sig(info->si_fd)) {
        struct jp_slot *slot = own_slot_sig();
        uint64_t count = jp_rtc_count_sig();
        if (slot != NULL)
            sample_sig(slot, JP_EVENT_WALL_RUNNING,
                       count * jp_config.period_ns, context);
        return;
    }
    if (forward_sig(signal, info, context))
        return;
    if (signal == SIGUSR1)
        jp_control_sig(JP_CONTROL_PAUSE);
    else if (signal == SIGUSR2)
        jp_control_sig(JP_CONTROL_CLEAR);
    else
        raised_sig(context);
}

void jp_handler_sig(int signal, siginfo_t *info, void *context)
{
    const int error = errno;
    if (jp_owned_sig())
        dispatch_sig(signal, info, context);
    errno = error;
}

uint64_t jp_handler_signals_sig(void)
{
    uint64_t set = JP_SIGSET(SIGPROF) | JP_SIGSET(SIGUSR1);
    set |= JP_SIGSET(jp_process.signal);
    if (jp_config.ring_bytes != 0)
        set |= JP_SIGSET(SIGUSR2);
    return set;
}
