/* SPDX-License-Identifier: MIT
 *
 * The signal handler: finds out what a signal is, and has it carried out.
 * Runs in: handler. */
#include "handler.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "adopt.h"
#include "control.h"
#include "critical.h"
#include "owned_signals.h"
#include "sampling.h"
#include "sig/arch/arch.h"
#include "sig/clock/clock.h"
#include "sig/clock/process_timer.h"
#include "sig/clock/unseen.h"
#include "sig/files/names.h"
#include "sig/os/restart.h"
#include "sig/os/sys.h"
#include "sig/state/budget.h"
#include "sig/state/gate.h"
#include "sig/state/own_code.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "trap.h"

/* At most so many handlers are seen to wait for their first instruction. */
#define HANDLERS_AT_ONCE 8U

/* Where jp_handler_sig returns to: a few instructions of the C library or the
 * kernel's vDSO that make the system call rt_sigreturn. */
static _Atomic uint64_t returns_to;
#define RETURN_BYTES 12U /* the longest so far has 9 (x86-64) */

/* The context to which a thread is about to return from a handler, if the
 * signal came before the first instruction of the return; else NULL.  (The
 * memory at pc is not read: a program that calls a function at NULL has a pc
 * that cannot be.) */
static const ucontext_t *returning_sig(const ucontext_t *context)
{
    if (jp_arch_pc_sig(context) !=
        atomic_load_explicit(&returns_to, memory_order_relaxed))
        return NULL;
    return (const ucontext_t *)(jp_arch_sp_sig(context) +
                                JP_ARCH_SIGNAL_CONTEXT);
}

/* Signals that come at once are delivered one behind the other: each has its
 * frame on the stack, and the last one's handler runs first.  Returns the
 * context that lies below the frames of handlers that have not begun, or are
 * over. */
static const ucontext_t *interrupted_sig(const ucontext_t *context)
{
    for (unsigned i = 0; i < HANDLERS_AT_ONCE; i++) {
        const ucontext_t *below = jp_arch_entered_sig(context);
        if (below == NULL)
            below = returning_sig(context);
        if (below == NULL)
            break;
        context = below;
    }
    return context;
}

/* Ends a signal of the thread's own clock: charges it to the budget, and sets
 * the clock if the period has changed. */
static void finish_clock_signal_sig(struct jp_thread *thread,
                                    const struct jp_visit *visit,
                                    uint64_t elapsed_ns)
{
    struct jp_budget *budget = &thread->clock.budget;
    if (!jp_budget_leave_sig(budget, visit, elapsed_ns))
        return;
    const uint64_t begin_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    jp_clock_pace_sig(thread);
    jp_budget_changed_sig(budget, begin_ns);
}

/* Makes a record for the calling thread, which has none, and arms it.  NULL
 * when there are no more records, or a filter forbids to ask for the thread's
 * id. */
static struct jp_thread *adopt_self_sig(void)
{
    struct jp_thread *thread =
        jp_sys_gettid_sig() != 0 ? jp_adopt_self_sig(0) : NULL;
    if (thread == NULL)
        jp_count_sig(JP_COUNT_LOST_NO_SLOT, 1);
    else if (atomic_load(&jp_process.running))
        jp_clock_arm_sig(thread);
    return thread;
}

/* Whether the thread is in a call that began before another thread ran a
 * handler of the program's, and that the kernel is about to make again as
 * SA_RESTART has it.  (A thread that was cancelled in a call still counts as in
 * it; calls that never fail with EINTR are none of these.) */
static int is_call_restarting_sig(const struct jp_thread_hooks *hooks,
                                  const ucontext_t *context)
{
    const uint64_t entered = atomic_load(&hooks->entered);
    return entered != 0 &&
           (uint32_t)entered != atomic_load(&jp_process.handled) &&
           jp_arch_again_sig(context) &&
           jp_restart_by_flag_sig(jp_arch_call_sig(context),
                                  jp_arch_second_sig(context));
}

/* Tells the hooks of the calling thread which signals another thread has taken.
 * A thread that blocks a signal was not woken for it.  If the handler was to
 * end a call that SA_RESTART of jprof's has made again, has that fail with
 * EINTR.  (A call that is done has left its instruction.) */
static void note_taken_elsewhere_sig(struct jp_thread_hooks *hooks,
                                     ucontext_t *context)
{
    uint64_t blocked;
    memcpy(&blocked, &context->uc_sigmask, sizeof(blocked));
    if (atomic_load(&hooks->masked) != 0)
        blocked = atomic_load(&hooks->blocked);
    const uint64_t taken = atomic_exchange(&hooks->taken, 0);
    const uint64_t cut = atomic_fetch_and(&hooks->cut, ~taken) & taken;
    if ((taken & ~blocked) != 0)
        atomic_fetch_add(&hooks->told, 1);
    if ((cut & ~blocked) != 0 && is_call_restarting_sig(hooks, context))
        jp_arch_skip_call_sig(context, -EINTR);
}

/* Tells the hooks of other threads which alternate stack the calling thread
 * has, which may have set it before jprof knew the thread. */
static void publish_alternate_stack_sig(struct jp_thread_hooks *hooks,
                                        const ucontext_t *context)
{
    const uint64_t low = (uint64_t)(uintptr_t)context->uc_stack.ss_sp;
    atomic_store(&hooks->alternate_known, 1);
    if (context->uc_stack.ss_size == 0)
        return;
    atomic_store(&hooks->alternate_low, low);
    atomic_store(&hooks->alternate_high, low + context->uc_stack.ss_size);
}

/* Tells the hooks of the calling thread that the handler ran, so that a call
 * may have ended early, and where the thread goes on. */
static void note_handler_run_sig(struct jp_thread *thread, ucontext_t *context)
{
    const uint32_t tid = thread == NULL ? jp_sys_gettid_sig() : 0;
    if (tid != 0)
        thread = jp_thread_by_tid_sig(tid);
    if (thread == NULL)
        return;
    atomic_fetch_add(&thread->hooks.runs, 1);
    if (atomic_load(&thread->hooks.alternate_known) == 0)
        publish_alternate_stack_sig(&thread->hooks, context);
    if (atomic_load(&thread->hooks.taken) != 0)
        note_taken_elsewhere_sig(&thread->hooks, context);
    const uint64_t pc = jp_arch_pc_sig(context), sp = jp_arch_sp_sig(context);
    /* jp_program_handler is about to ask where the thread was before it:
     * signals that come while it runs do not count. */
    if (jp_own_code_has_sig(pc))
        return;
    if (thread->hooks.resumed[0].pc != pc ||
        thread->hooks.resumed[0].sp != sp) {
        thread->hooks.resumed[1] = thread->hooks.resumed[0];
        thread->hooks.resumed[0] = (struct jp_resumed){pc, sp};
    }
}

/* Counts a signal that was sent to the process.  The kernel may first have
 * woken another thread for it, whose call ended early though no handler ran in
 * it. */
static void count_process_signal_sig(void)
{
    atomic_fetch_add(&jp_process.shared, 1);
}

static int is_control_sig(const siginfo_t *info)
{
    return ((uint32_t)info->si_value.sival_int & JP_CONTROL_MASK) ==
           JP_CONTROL_MAGIC;
}

/* Disarms a thread that armed its timer just after a pause had disarmed all. */
static void stop_late_sig(struct jp_thread *thread)
{
    if (!atomic_load(&jp_process.running))
        jp_clock_disarm_sig(thread);
}

/* Takes the samples that a signal stands for, and counts them if the period is
 * lengthened.  budget: NULL while another thread has the process's.  (Inlined,
 * since the handler uses much stack below it.) */
__attribute__((always_inline)) static inline void
take_sig(struct jp_pass *pass, const struct jp_budget *budget)
{
    const uint64_t all = jp_sampling_take_due_sig(pass);
    if (budget != NULL && all != 0)
        jp_sampling_lowered_sig(budget, all);
}

/* The calling thread's CPU clock, if its next sample is its first, which takes
 * more than a millisecond where the log is made for it; else 0. */
static uint64_t before_first_sig(const struct jp_clock_kind *kind,
                                 const struct jp_thread *thread)
{
    return kind->cpu && thread->last.sampled_ns == 0
               ? jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID)
               : 0;
}

/* Has what the thread's first sample took count as jprof's: processes that live
 * for some milliseconds would seem to have used twice as much as they did, and
 * no tick that comes later would be there to stand for it.  The budget is not
 * charged: the work comes once. */
static void after_first_sig(struct jp_thread *thread, uint64_t begin_ns,
                            struct jp_visit *visit)
{
    const uint64_t end_ns = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    if (thread->last.sampled_ns == 0 || end_ns <= begin_ns)
        return;
    jp_count_sig(JP_COUNT_MAKING_NS, end_ns - begin_ns);
    visit->begin_ns += end_ns - begin_ns;
    visit->cpu_ns += visit->cpu_ns != 0 ? end_ns - begin_ns : 0;
    jp_clock_skip_sig(thread, end_ns - begin_ns);
}

/* Whether samples are due at a signal of the thread's own clock; fills
 * pass->due.  (Not inlined: the look is dead when the samples are taken, below
 * which the handler uses the most stack.) */
__attribute__((noinline)) static int
is_due_sig(const struct jp_clock_kind *kind, struct jp_pass *pass)
{
    struct jp_look look = {0};
    pass->look = &look;
    const enum jp_observed observed = kind->observe(pass);
    if (observed == JP_OBSERVED_COMPARE)
        jp_sampling_compare_sig(pass);
    if (observed != JP_OBSERVED_NONE)
        jp_clock_account_sig(kind, pass);
    pass->look = NULL;
    return observed != JP_OBSERVED_NONE;
}

/* Handles a signal of the calling thread's own clock.  If it comes while the
 * thread is taking a sample (libunwind unblocks signals), its weight is carried
 * to the next sample.  (Not inlined: that would enlarge the stack frame of all
 * other signals.) */
__attribute__((noinline)) static void
own_clock_sig(const struct jp_clock_kind *kind, struct jp_pass *pass)
{
    struct jp_thread *thread = pass->thread;
    struct jp_visit visit;
    if (!jp_thread_enter_sig(thread, JP_THREAD_SAMPLES)) {
        if (kind->untaken != NULL)
            atomic_fetch_add(&thread->clock.carried_ns,
                             kind->untaken(thread, &pass->signal));
        return;
    }
    jp_budget_enter_sig(&thread->clock.budget, &visit, pass->signal.now_ns);
    if (is_due_sig(kind, pass)) {
        const uint64_t begin_ns = before_first_sig(kind, thread);
        take_sig(pass, &thread->clock.budget);
        if (begin_ns != 0)
            after_first_sig(thread, begin_ns, &visit);
        if (pass->due.probes)
            jp_budget_probe_sig(&thread->clock.budget, &visit);
        if (kind->schedule != NULL)
            kind->schedule(thread);
    }
    if (kind->cpu)
        jp_adopt_poll_without_timer_sig(pass->signal.now_ns);
    finish_clock_signal_sig(thread, &visit, pass->due.counted_ns);
    atomic_store(&thread->busy, 0);
}

/* Handles a signal of a clock of the whole process.  pass->thread: NULL: the
 * calling thread has no record yet. */
__attribute__((noinline)) static void
shared_clock_sig(const struct jp_clock_kind *kind, struct jp_pass *pass)
{
    struct jp_visit visit;
    if (pass->thread == NULL && (pass->thread = adopt_self_sig()) == NULL)
        return;
    if (!jp_thread_enter_sig(pass->thread, JP_THREAD_SAMPLES))
        return;
    struct jp_budget *budget = kind->take();
    if (budget != NULL)
        jp_budget_enter_sig(budget, &visit, pass->signal.now_ns);
    kind->observe(pass);
    take_sig(pass, budget);
    if (kind->cpu)
        jp_adopt_poll_without_timer_sig(pass->signal.now_ns);
    if (budget != NULL)
        kind->give(jp_budget_leave_sig(budget, &visit,
                                       pass->due.cpu + pass->due.running +
                                           pass->due.blocked));
    atomic_store(&pass->thread->busy, 0);
}

/* Handles a signal of a clock of one thread, which may have ended. */
static void thread_clock_sig(const struct jp_clock_kind *kind,
                             struct jp_pass *pass)
{
    const struct jp_signal *signal = &pass->signal;
    struct jp_thread *thread = kind->find(signal);
    if (thread == NULL && kind->untaken != NULL)
        jp_sampling_lose_sig(JP_COUNT_LOST_STALE, kind->untaken(NULL, signal));
    note_handler_run_sig(thread, signal->context);
    /* (A signal that was on its way when the thread's own record took over from
     * one that a search had made: the own one's clock counts that time.) */
    if (thread == NULL || jp_thread_is_retired_sig(thread))
        return;
    pass->thread = thread;
    own_clock_sig(kind, pass);
    stop_late_sig(thread);
}

/* Handles a signal of the process's slow timer, which came to the calling
 * thread: adopts the thread if it has no record, samples CPU time that its own
 * clock has not seen, and goes on searching for other threads. */
static void watch_sig(ucontext_t *context)
{
    count_process_signal_sig();
    const uint32_t tid = jp_sys_gettid_sig();
    if (tid == 0)
        return; /* a filter forbids to ask which thread it is */
    struct jp_thread *thread = jp_thread_by_tid_sig(tid);
    if (thread == NULL && jp_adopt_has_run_sig(tid))
        thread = adopt_self_sig();
    if (thread != NULL) {
        note_handler_run_sig(thread, context);
        jp_clock_recover_sig(thread, context);
        const uint64_t weight = jp_unseen_signal_sig(thread);
        if (weight != 0)
            jp_sampling_take_sig(thread, jp_clock_event_sig(), weight,
                                 interrupted_sig(context));
        jp_names_follow_sig(thread, jp_sys_clock_sig(CLOCK_MONOTONIC));
        stop_late_sig(thread);
    }
    jp_owned_watch_sig();
    jp_adopt_step_sig();
}

/* Handles the signal of JP_FIRST's timer or of the process's slow timer.
 * Returns 0 when it is neither. */
static int timer_sig(const siginfo_t *info, ucontext_t *context)
{
    const uint64_t value = (uint64_t)info->si_value.sival_ptr;
    if (value == (JP_CONTROL_MAGIC | JP_CONTROL_START)) {
        count_process_signal_sig();
        note_handler_run_sig(NULL, context);
        if (atomic_load(&jp_process.first_pending))
            jp_control_sig(JP_CONTROL_START);
        return 1;
    }
    if (!jp_process_timer_is_sig(info))
        return 0;
    watch_sig(context);
    return 1;
}

/* Handles a signal that somebody raised: starts the profile if it does not run,
 * and samples the thread that got it, as in the original jprof. */
static void raised_sig(struct jp_thread *thread, const ucontext_t *context)
{
    if (thread == NULL && (thread = adopt_self_sig()) == NULL)
        return;
    if (!atomic_load(&jp_process.running))
        jp_control_sig(JP_CONTROL_START);
    jp_sampling_take_sig(thread, JP_EVENT_RAISED, jp_config.period_ns, context);
}

/* Handles a signal of jprof's that carries no value. */
static void plain_sig(struct jp_thread *thread, int signal,
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
        raised_sig(thread, context);
}

/* The record of the calling thread; NULL when it has none.  Sets *ours to
 * whether the thread is one of this process: a vfork child, which runs in this
 * memory, has another pid, also in the siginfo of signals that it sends
 * itself. */
static struct jp_thread *whose_sig(const siginfo_t *info,
                                   const ucontext_t *context, int *ours)
{
    struct jp_thread *thread = NULL;
    *ours = 1;
    if (info->si_code == SI_TKILL && (uint32_t)info->si_pid == jp_owner->pid)
        thread = jp_thread_here_sig(jp_arch_sp_sig(context));
    if (thread != NULL)
        return thread;
    /* 0: a filter forbids to ask. */
    const uint32_t tid = jp_sys_gettid_sig();
    thread = tid != 0 ? jp_thread_by_tid_sig(tid) : NULL;
    if (thread != NULL) {
        jp_thread_remember_sig(thread);
        return thread;
    }
    const uint32_t pid = jp_sys_getpid_sig();
    *ours = pid == 0 || pid == jp_owner->pid;
    return NULL;
}

static void dispatch_sig(int number, siginfo_t *info, void *context)
{
    struct jp_pass pass = {.signal = {number, info, context,
                                      jp_sys_clock_sig(CLOCK_MONOTONIC),
                                      interrupted_sig(context)}};
    if (info->si_code == SI_TIMER && timer_sig(info, context))
        return;
    if (info->si_code == SI_QUEUE &&
        (uint32_t)info->si_value.sival_int == JP_HANDLER_NOTED) {
        note_handler_run_sig(NULL, context);
        return;
    }
    const struct jp_clock_kind *kind = jp_clock_of_sig(&pass.signal);
    if (kind != NULL)
        atomic_store_explicit(&jp_owned.heard, 1, memory_order_relaxed);
    if (kind != NULL && kind->per_thread) {
        thread_clock_sig(kind, &pass);
        return;
    }
    int ours;
    if (info->si_code != SI_TKILL)
        count_process_signal_sig();
    pass.thread = whose_sig(info, context, &ours);
    if (!ours)
        return;
    if (pass.thread != NULL)
        note_handler_run_sig(pass.thread, context);
    if (info->si_code == SI_QUEUE && is_control_sig(info))
        jp_control_sig((enum jp_control)(info->si_value.sival_int & 0xff));
    else if (kind != NULL)
        shared_clock_sig(kind, &pass);
    else if (!jp_owned_is_claimed_sig(number, info, context))
        plain_sig(pass.thread, number, pass.signal.interrupted);
}

/* The linker's bounds of JP_GATE_SECTION. */
extern const char __start_jp_handler[] __attribute__((visibility("hidden")));
extern const char __stop_jp_handler[] __attribute__((visibility("hidden")));

int jp_handler_is_at_sig(uint64_t pc)
{
    return (pc >= (uint64_t)__start_jp_handler &&
            pc < (uint64_t)__stop_jp_handler) ||
           pc - atomic_load_explicit(&returns_to, memory_order_relaxed) <
               RETURN_BYTES;
}

/* Counts what a signal of a thread's clock stands for as lost: it came to a
 * thread that is none of the C library's. */
static void lose_sig(const struct jp_signal *signal)
{
    const struct jp_clock_kind *kind = jp_clock_of_sig(signal);
    if (kind == NULL || !kind->per_thread || kind->untaken == NULL)
        return;
    /* The periods have had their signal, for when the clock stops. */
    struct jp_thread *thread = kind->cpu ? kind->find(signal) : NULL;
    jp_sampling_lose_sig(JP_COUNT_LOST_STALE, kind->untaken(thread, signal));
}

JP_GATE_SECTION __attribute__((noinline)) void
jp_handler_sig(int signal, siginfo_t *info, void *context)
{
    if (!jp_process_ready_sig())
        return;
    if (!jp_gate_ask_sig()) {
        lose_sig(&(const struct jp_signal){.number = signal, .info = info});
        return;
    }
    uint64_t blocked;
    memcpy(&blocked, &((const ucontext_t *)context)->uc_sigmask,
           sizeof(blocked));
    jp_critical_depth++;
    atomic_store_explicit(&returns_to, (uint64_t)__builtin_return_address(0),
                          memory_order_relaxed);
    const int error = errno;
    jp_trap_open_sig(blocked);
    dispatch_sig(signal, info, context);
    jp_control_check_sig();
    jp_trap_close_sig();
    errno = error;
    jp_critical_depth--;
}
