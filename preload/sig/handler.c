/* SPDX-License-Identifier: MIT
 *
 * The signal handler: whose signal is it, and what is to be done.
 * Runs in: handler. */
#include "handler.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "adopt.h"
#include "arch/arch.h"
#include "budget.h"
#include "clock.h"
#include "clock_itimer.h"
#include "clock_perf.h"
#include "clock_real.h"
#include "clock_timer.h"
#include "command.h"
#include "control.h"
#include "gate.h"
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
#include "trap.h"
#include "usage.h"
#include "walk_safe.h"

#define HITS_UNTOLD 10000U  /* that a kit may keep for itself */

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
    kit->last_ref = 0;
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
    if (slot->kit == NULL) {
        struct jp_kit *none = NULL, *kit = jp_kit_take_sig();
        /* Another thread may give it one (jp_control_brace_sig). */
        if (kit != NULL &&
            !atomic_compare_exchange_strong(&slot->kit, &none, kit))
            jp_kit_return_sig(kit);
    }
    if (slot->kit == NULL) {
        lose_sig(JP_COUNT_LOST_NO_MEMORY, weight_ns);
        return;
    }
    jp_handler_flush_sig(slot->kit);
    if (error != 0)
        jp_maps_early_sig();
    else
        jp_maps_refresh_sig(sample.time_ns);
    jp_maps_check_kit_sig(slot->kit);
    sample.reason = jp_walk_safe_sig(slot, slot->kit, context);
    if (slot->kit->rule_misses != 0 || slot->kit->rule_hits > HITS_UNTOLD)
        jp_kit_tell_sig(slot->kit);
    slot->reason = sample.reason;
    slot->sampled_ns = sample.time_ns;
    if (error != 0) {
        keep_sig(slot->kit, &sample);
        return;
    }
    if (jp_log_write_sig(slot->kit, &sample) != 0)
        return;
    jp_names_follow_sig(slot, sample.time_ns);
    jp_command_follow_sig(sample.time_ns);
    jp_jit_check_sig(slot->kit, sample.time_ns);
    jp_usage_follow_sig(sample.time_ns);
}

/* Counts what is sampled at a longer period than was asked for. */
static void count_lowered_sig(const struct jp_budget *budget,
                              uint64_t weight_ns)
{
    if (!jp_budget_lowered_sig(budget))
        return;
    jp_count_sig(JP_COUNT_LOWERED, 1);
    jp_count_sig(JP_COUNT_LOWERED_NS, weight_ns);
}

/* The end of a signal of the slot's own clock: what it cost, and where that is
 * too much, or no longer is, another period. */
static void leave_sig(struct jp_slot *slot, const struct jp_visit *visit,
                      uint64_t elapsed_ns)
{
    struct jp_budget *budget = &slot->budget;
    if (!jp_budget_leave_sig(budget, visit, elapsed_ns))
        return;
    const uint64_t begin_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    jp_clock_pace_sig(slot);
    jp_budget_changed_sig(budget, begin_ns);
}

static void sample_sig(struct jp_slot *slot, enum jp_event event,
                       uint64_t weight_ns, const ucontext_t *context)
{
    /* A thread that pauses the profile may be writing the slot's rest. */
    if (atomic_exchange(&slot->busy, 1) != 0) {
        if (event == JP_EVENT_CPU && jp_clock_is_thread_cpu_sig())
            atomic_fetch_add(&slot->debt_ns, weight_ns);
        else
            lose_sig(JP_COUNT_LOST_REENTRANT, weight_ns);
        return;
    }
    if (event != JP_EVENT_CPU && event != JP_EVENT_RAISED)
        event = real_event_sig(slot, weight_ns);
    take_sig(slot, event, weight_ns, context);
    atomic_store(&slot->busy, 0);
}

/* A slot for the calling thread, which has none; NULL when there are no
 * more. */
static struct jp_slot *adopt_self_sig(void)
{
    struct jp_slot *slot = jp_sys_gettid_sig() != 0
                               ? jp_adopt_self_sig(0)
                               : NULL;
    if (slot == NULL)
        jp_count_sig(JP_COUNT_LOST_NO_SLOT, 1);
    else if (atomic_load(&jp_process.running))
        jp_clock_arm_sig(slot);
    return slot;
}

/* The linker's bounds of the library's code. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* Tells the hooks of the calling thread that a call may have ended early, and
 * where it goes on. */
static void ran_sig(struct jp_slot *slot, const ucontext_t *context)
{
    const uint32_t tid = slot == NULL ? jp_sys_gettid_sig() : 0;
    if (tid != 0)
        slot = jp_slot_by_tid_sig(tid);
    if (slot == NULL)
        return;
    const uint64_t pc = jp_arch_pc_sig(context), sp = jp_arch_sp_sig(context);
    atomic_fetch_add(&slot->runs, 1);
    /* Not in jp_program_handler on its way to the question where the thread
     * was: however many of jprof's signals come there. */
    if (pc >= (uint64_t)__ehdr_start && pc < (uint64_t)etext)
        return;
    if (slot->resumed[0].pc != pc || slot->resumed[0].sp != sp) {
        slot->resumed[1] = slot->resumed[0];
        slot->resumed[0] = (struct jp_resumed){pc, sp};
    }
}

/* A signal that was sent to the process.  The kernel may have woken another
 * thread for it, whose call ended early though no handler ran there. */
static void ran_shared_sig(void)
{
    atomic_fetch_add(&jp_process.shared, 1);
}

static int is_control_sig(const siginfo_t *info)
{
    return ((uint32_t)info->si_value.sival_int & JP_CONTROL_MASK) ==
           JP_CONTROL_MAGIC;
}

/* A thread that began just as the profile was paused armed its timer behind
 * the back of the one who disarmed all. */
static void stop_late_sig(struct jp_slot *slot)
{
    if (!atomic_load(&jp_process.running))
        jp_clock_disarm_sig(slot);
}

/* Writes a sample where the thread was last seen: the kit still has that
 * stack.  Its time is that stack's, since the libraries at its addresses may
 * have gone, but not before a ring was cleared.  Returns whether it could. */
static int write_again_sig(struct jp_slot *slot, enum jp_event event,
                           uint64_t weight_ns)
{
    if (slot->kit == NULL || slot->kit->waiting || jp_logfile_ready_sig() != 0)
        return 0;
    const uint64_t cleared =
        __atomic_load_n(&jp_log.header->cleared_ns, __ATOMIC_RELAXED);
    struct jp_sample sample = {slot->sampled_ns, weight_ns, slot->tid,
                               (uint8_t)event, slot->reason};
    if (sample.time_ns < cleared) {
        const uint64_t since = jp_sys_clock_sig(CLOCK_MONOTONIC) - cleared;
        sample.time_ns = cleared;
        if (sample.weight_ns > since)
            sample.weight_ns = since;
    }
    jp_log_write_sig(slot->kit, &sample);
    return 1;
}

void jp_handler_rest_sig(struct jp_slot *slot)
{
    struct jp_real real;
    uint64_t overdue;
    if (slot->kit == NULL || atomic_exchange(&slot->busy, 1) != 0)
        return;
    if (jp_clock_is_thread_cpu_sig() &&
        (overdue = jp_clock_debt_sig(slot)) != 0)
        write_again_sig(slot, JP_EVENT_CPU, overdue);
    if (jp_process.clock == JP_CLOCK_ITIMER) {
        if ((overdue = jp_clock_itimer_overdue_sig()) != 0)
            write_again_sig(slot, JP_EVENT_CPU, overdue);
    } else if (jp_process.clock == JP_CLOCK_MONOTONIC &&
               jp_clock_real_rest_sig(slot, &real)) {
        if (real.before != 0)
            write_again_sig(slot, JP_EVENT_WALL_BLOCKED, real.before);
        if (real.running >= JP_CLOCK_REST_NS)
            write_again_sig(slot, JP_EVENT_WALL_RUNNING, real.running);
        if (real.ready >= JP_CLOCK_REST_NS)
            write_again_sig(slot, JP_EVENT_WALL_READY, real.ready);
    }
    atomic_store(&slot->busy, 0);
}

void jp_handler_overdue_sig(struct jp_slot *slot, uint32_t source)
{
    uint64_t overdue = 0;
    if (source == JP_CLOCK_NONE && atomic_load(&jp_process.running))
        overdue = jp_clock_unseen_sig(slot);
    else if (source == JP_CLOCK_THREAD_CPU && !slot->opening &&
             atomic_load(&slot->early_ns) == 0)
        overdue = jp_clock_timer_overdue_sig(slot, jp_process.tick_ns);
    if (overdue != 0)
        write_again_sig(slot, JP_EVENT_CPU, overdue);
}

/* Whether a signal of the thread's clock came while one was at work in it:
 * libunwind unblocks signals.  Then the next sample stands for its time. */
static int is_nested_sig(struct jp_slot *slot, uint64_t weight_ns)
{
    if (atomic_load(&slot->busy) == 0)
        return 0;
    atomic_fetch_add(&slot->debt_ns, weight_ns);
    return 1;
}

/* Samples of what a signal on real time stands for. */
static void take_real_sig(struct jp_slot *slot, struct jp_real *real,
                          const ucontext_t *context)
{
    if (real->before != 0 &&
        !write_again_sig(slot, JP_EVENT_WALL_BLOCKED, real->before))
        real->blocked += real->before;
    if (real->blocked != 0)
        take_sig(slot, JP_EVENT_WALL_BLOCKED, real->blocked, context);
    if (real->running != 0)
        take_sig(slot, JP_EVENT_WALL_RUNNING, real->running, context);
    if (real->ready != 0 &&
        (real->running == 0 ||
         !write_again_sig(slot, JP_EVENT_WALL_READY, real->ready)))
        take_sig(slot, JP_EVENT_WALL_READY, real->ready, context);
}

/* A signal of the thread's timer on real time.  One that came while another was
 * at work needs no debt: samples go from one moment to the next.  (Inlined, it
 * would make the frame larger under all that other signals lead to.) */
__attribute__((noinline)) static void
real_sig(struct jp_slot *slot, const siginfo_t *info, const ucontext_t *context)
{
    struct jp_real real;
    struct jp_visit visit;
    if (atomic_exchange(&slot->busy, 1) != 0)
        return;
    jp_budget_enter_sig(&slot->budget, &visit,
                        jp_sys_clock_sig(CLOCK_MONOTONIC));
    if (jp_clock_real_sig(slot, info, context, &real)) {
        take_real_sig(slot, &real, context);
        count_lowered_sig(&slot->budget, real.before + real.blocked +
                                             real.running + real.ready);
        if (real.probes)
            jp_budget_probe_sig(&slot->budget, &visit);
        jp_clock_real_done_sig(slot);
    }
    leave_sig(slot, &visit, real.counted_ns);
    atomic_store(&slot->busy, 0);
}

/* A signal of the thread's own timer on CPU time. */
static void cpu_sig(struct jp_slot *slot, uint64_t weight,
                    const ucontext_t *context)
{
    struct jp_visit visit;
    weight = jp_clock_early_sig(slot, weight);
    if (is_nested_sig(slot, weight))
        return;
    jp_budget_enter_sig(&slot->budget, &visit,
                        jp_sys_clock_sig(CLOCK_MONOTONIC));
    weight = jp_clock_promote_sig(slot, weight) + jp_clock_debt_sig(slot);
    if (weight != 0) {
        sample_sig(slot, JP_EVENT_CPU, weight, context);
        count_lowered_sig(&slot->budget, weight);
    }
    leave_sig(slot, &visit, weight);
}

/* The process's slow timer has come to the calling thread.  One that it did
 * not know has run unseen since it began. */
static void watch_sig(const ucontext_t *context)
{
    ran_shared_sig();
    const uint32_t tid = jp_sys_gettid_sig();
    if (tid == 0)
        return;     /* a filter keeps us from knowing who it is */
    struct jp_slot *slot = jp_slot_by_tid_sig(tid);
    if (slot == NULL && jp_adopt_has_run_sig(tid))
        slot = adopt_self_sig();
    if (slot != NULL) {
        ran_sig(slot, context);
        const uint64_t weight = jp_clock_unseen_sig(slot);
        if (weight != 0)
            sample_sig(slot, JP_EVENT_CPU, weight, context);
        jp_names_follow_sig(slot, jp_sys_clock_sig(CLOCK_MONOTONIC));
    }
    jp_adopt_step_sig();
}

/* A timer's signal.  Returns whether it was jprof's. */
static int timer_sig(const siginfo_t *info, const ucontext_t *context)
{
    uint64_t value = (uint64_t)info->si_value.sival_ptr;
    if (value == (JP_CONTROL_MAGIC | JP_CONTROL_START)) {
        ran_shared_sig();
        ran_sig(NULL, context);
        if (atomic_load(&jp_process.first_pending))
            jp_control_sig(JP_CONTROL_START);
        return 1;
    }
    if (jp_adopt_is_sig(info)) {
        watch_sig(context);
        return 1;
    }
    if (!jp_slot_is_value_sig(value))
        return 0;
    uint64_t weight = jp_clock_weight_sig(info->si_overrun);
    struct jp_slot *slot = jp_slot_by_value_sig(value);
    if (slot == NULL) {
        lose_sig(JP_COUNT_LOST_STALE, weight);
        ran_sig(NULL, context);
        return 1;
    }
    ran_sig(slot, context);
    if (jp_process.clock == JP_CLOCK_MONOTONIC)
        real_sig(slot, info, context);
    else
        cpu_sig(slot, weight, context);
    stop_late_sig(slot);
    return 1;
}

/* A signal of the perf clock. */
static void perf_sig(const siginfo_t *info, const ucontext_t *context)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    struct jp_slot *slot =
        jp_clock_perf_slot_sig(info, jp_arch_sp_sig(context));
    struct jp_visit visit;
    ran_sig(slot, context);
    if (slot == NULL)
        return;
    if (is_nested_sig(slot, 0))
        return;
    jp_budget_enter_sig(&slot->budget, &visit, now);
    const uint64_t weight =
        jp_clock_perf_weight_sig(slot, now) + jp_clock_debt_sig(slot);
    if (weight != 0) {
        sample_sig(slot, JP_EVENT_CPU, weight, context);
        count_lowered_sig(&slot->budget, weight);
        jp_budget_probe_sig(&slot->budget, &visit);
    }
    jp_adopt_instead_sig(now);
    leave_sig(slot, &visit, weight);
    stop_late_sig(slot);
}

/* A signal of the process's one timer. */
static void itimer_sig(struct jp_slot *slot, const ucontext_t *context)
{
    struct jp_visit visit;
    if (slot != NULL && is_nested_sig(slot, 0))
        return;
    struct jp_budget *budget = jp_clock_itimer_take_sig();
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t weight = jp_clock_itimer_weight_sig();
    if (budget != NULL)
        jp_budget_enter_sig(budget, &visit, now);
    if (slot == NULL)
        slot = adopt_self_sig();
    if (slot != NULL && weight != 0)
        sample_sig(slot, JP_EVENT_CPU, weight, context);
    jp_adopt_instead_sig(now);
    if (budget == NULL)
        return;
    count_lowered_sig(budget, weight);
    jp_clock_itimer_give_sig(jp_budget_leave_sig(budget, &visit, weight));
}

/* An interrupt of /dev/rtc. */
static void rtc_sig(struct jp_slot *slot, const ucontext_t *context)
{
    struct jp_visit visit;
    if (slot != NULL && is_nested_sig(slot, 0))
        return;
    struct jp_budget *budget = jp_rtc_take_sig();
    const uint64_t weight = jp_rtc_weight_sig();
    if (budget != NULL)
        jp_budget_enter_sig(budget, &visit, jp_sys_clock_sig(CLOCK_MONOTONIC));
    if (slot != NULL || (slot = adopt_self_sig()) != NULL)
        sample_sig(slot, JP_EVENT_WALL_RUNNING, weight, context);
    if (budget == NULL)
        return;
    count_lowered_sig(budget, weight);
    jp_rtc_give_sig(jp_budget_leave_sig(budget, &visit, weight));
}

/* A signal that somebody sent: starts the profile if it does not run, and is
 * a sample of the thread that it came to, as in the original. */
static void raised_sig(struct jp_slot *slot, const ucontext_t *context)
{
    if (slot == NULL && (slot = adopt_self_sig()) == NULL)
        return;
    if (!atomic_load(&jp_process.running))
        jp_control_sig(JP_CONTROL_START);
    sample_sig(slot, JP_EVENT_RAISED, jp_config.period_ns, context);
}

/* A signal of jprof's with no value of its own. */
static void plain_sig(struct jp_slot *slot, int signal,
                      const ucontext_t *context)
{
    if (signal == jp_config.pause_signal)
        jp_control_sig(JP_CONTROL_PAUSE);
    else if (signal == jp_config.clear_signal && jp_config.ring_bytes != 0)
        jp_control_sig(JP_CONTROL_CLEAR);
    else if (signal == jp_config.save_signal)
        jp_control_sig(JP_CONTROL_SAVE);
    else if (signal == jp_config.start_signal)
        jp_control_sig(JP_CONTROL_START);
    else
        raised_sig(slot, context);
}

/* The slot of the calling thread, NULL when it has none.  *ours: whether the
 * thread is this process's.  One with a slot is.  A vfork child has none, and
 * only borrows this memory; a signal that it sends itself has its own pid. */
static struct jp_slot *whose_sig(const siginfo_t *info,
                                 const ucontext_t *context, int *ours)
{
    struct jp_slot *slot = NULL;
    *ours = 1;
    if (info->si_code == SI_TKILL && (uint32_t)info->si_pid == jp_owner->pid)
        slot = jp_slot_here_sig(jp_arch_sp_sig(context));
    if (slot != NULL)
        return slot;
    /* 0: a filter keeps us from asking. */
    const uint32_t tid = jp_sys_gettid_sig();
    slot = tid != 0 ? jp_slot_by_tid_sig(tid) : NULL;
    if (slot != NULL) {
        jp_slot_remember_sig(slot);
        return slot;
    }
    const uint32_t pid = jp_sys_getpid_sig();
    *ours = pid == 0 || pid == jp_owner->pid;
    return NULL;
}

static void dispatch_sig(int signal, siginfo_t *info, void *context)
{
    if (info->si_code == SI_TIMER && timer_sig(info, context))
        return;
    if (jp_clock_perf_value_sig(info)) {
        perf_sig(info, context);
        return;
    }
    int ours;
    if (info->si_code != SI_TKILL)
        ran_shared_sig();
    struct jp_slot *slot = whose_sig(info, context, &ours);
    if (!ours)
        return;
    if (slot != NULL)
        ran_sig(slot, context);
    if (info->si_code == SI_QUEUE && is_control_sig(info)) {
        jp_control_sig((enum jp_control)(info->si_value.sival_int & 0xff));
        return;
    }
    if (jp_clock_itimer_is_sig(signal, info)) {
        itimer_sig(slot, context);
        return;
    }
    if (signal == SIGIO && info->si_code > 0 && jp_rtc_is_sig(info->si_fd)) {
        rtc_sig(slot, context);
        return;
    }
    plain_sig(slot, signal, context);
}

/* The linker's bounds of the section that the handler is alone in. */
extern const char __start_jp_handler[] __attribute__((visibility("hidden")));
extern const char __stop_jp_handler[] __attribute__((visibility("hidden")));

int jp_handler_is_at_sig(uint64_t pc)
{
    return pc >= (uint64_t)__start_jp_handler &&
           pc < (uint64_t)__stop_jp_handler;
}

__attribute__((section("jp_handler"), noinline)) void
jp_handler_sig(int signal, siginfo_t *info, void *context)
{
    if (!jp_owned_sig())
        return;
    if (!jp_gate_ask_sig()) {
        if (info->si_code == SI_TIMER)
            jp_count_sig(JP_COUNT_LOST_NO_SLOT, 1);
        return;
    }
    uint64_t blocked;
    memcpy(&blocked, &((const ucontext_t *)context)->uc_sigmask,
           sizeof(blocked));
    jp_sys_inside++;
    const int error = errno;
    jp_trap_open_sig(blocked);
    dispatch_sig(signal, info, context);
    if (atomic_load_explicit(&jp_log.cut, memory_order_relaxed) != 0)
        jp_control_cut_sig();
    jp_trap_close_sig();
    errno = error;
    jp_sys_inside--;
}
