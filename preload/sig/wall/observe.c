/* SPDX-License-Identifier: MIT
 *
 * The first stage of the clock of real time: reads what the kernel, the thread
 * and its process tell at a signal.
 * Runs in: handler. */
#include "observe.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#include "delay.h"
#include "queues.h"
#include "sig/arch/arch.h"
#include "sig/os/filter.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/timers/left.h"
#include "sig/timers/random.h"
#include "sig/timers/used.h"
#include "still.h"
#include "traced.h"

/* How old the threads got that ended lately: the oldest, but an eighth less for
 * each that has ended since; and when the last one ended. */
static _Atomic uint64_t life_ns, ended_ns;

struct jp_wall_call jp_observe_call_sig(const ucontext_t *context)
{
    struct jp_wall_call call = {.number = -1};
    call.waited = jp_arch_waited_sig(context, 0) != 0;
    call.after = jp_arch_waited_sig(context, 1) != 0;
    call.only_waits = call.after && !call.waited && jp_left_wait_sig(context);
    return call;
}

void jp_observe_sig(struct jp_thread *thread, const ucontext_t *context,
                    struct jp_observation *seen)
{
    struct jp_wall_seen *last = &thread->clock.wall.seen;
    seen->switches = jp_left_switches_sig(&seen->held);
    seen->now_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t cpu = jp_used_cpu_sig();
    seen->cpu_known = cpu != JP_USED_UNKNOWN;
    seen->before_ns = thread->clock.cpu_ns;
    seen->used_ns = jp_used_since_sig(cpu, seen->before_ns);
    seen->runs = atomic_load(&thread->hooks.runs);
    seen->shared = atomic_load(&jp_process.shared);
    seen->call = jp_observe_call_sig(context);
    const int unknown =
        seen->switches == JP_LEFT_UNKNOWN || last->switches == JP_LEFT_UNKNOWN;
    seen->print =
        unknown && seen->call.after ? jp_still_print_sig(thread, context) : 0;
    last->at_ns = seen->now_ns;
}

void jp_observe_tracer_sig(struct jp_observation *seen)
{
    seen->traced = jp_traced_sig(seen->now_ns) != 0;
}

void jp_observe_wait_sig(const struct jp_thread *thread,
                         const ucontext_t *context, struct jp_observation *seen)
{
    struct jp_wall_call *call = &seen->call;
    call->number = jp_arch_call_sig(context);
    call->queues =
        call->number >= 0 &&
        jp_queues_found_sig(thread->tid, call->number,
                            jp_arch_first_sig(context), seen->now_ns);
    call->rare = jp_left_rare_sig(call->number) != 0;
    call->supervised = call->rare && jp_left_supervised_sig(call->number, 0);
}

void jp_observe_delay_sig(struct jp_observation *seen)
{
    seen->delay_ns = jp_delay_sig();
}

struct jp_given jp_observe_given_sig(const struct jp_thread *thread)
{
    const struct jp_budget *budget = &thread->clock.budget;
    return (struct jp_given){
        .period_ns = budget->period_ns,
        .threads = jp_threads_taken_sig(),
        .cost_ns = jp_left_cost_sig(),
        .life_ns = atomic_load(&life_ns),
        .ended_ns = atomic_load(&ended_ns),
        .lowered = jp_budget_lowered_sig(budget) != 0,
        .is_main = thread->tid == jp_owner->pid,
    };
}

struct jp_draw jp_observe_draw_sig(const struct jp_thread *thread,
                                   uint32_t salt)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    return (struct jp_draw){
        .now_ns = now,
        .random = jp_random_hash_sig(now + salt),
        .pid = jp_owner->pid,
        .index = jp_thread_index_sig(thread),
        .used = jp_threads_used_sig(),
    };
}

int jp_observe_lifted_sig(const struct jp_thread *thread)
{
    return thread->clock.wall.stratum.fence_ns != 0 &&
           jp_filter_number_sig(SYS_timer_settime) == 0;
}

static void remember_sig(struct jp_thread *thread, uint64_t switches,
                         uint64_t held, uint64_t ours_ns)
{
    struct jp_wall_seen *last = &thread->clock.wall.seen;
    last->switches = switches;
    last->held = held;
    last->runs = atomic_load(&thread->hooks.runs);
    last->shared = atomic_load(&jp_process.shared);
    last->ours_ns = ours_ns;
}

void jp_observe_sampled_sig(struct jp_thread *thread,
                            const struct jp_look *look, uint64_t late_ns)
{
    struct jp_wall_seen *last = &thread->clock.wall.seen;
    if (last->delay_ns != JP_DELAY_UNKNOWN)
        last->delay_ns += late_ns;
    thread->clock.cpu_ns = look->seen.before_ns + look->found.used_ns;
}

void jp_observe_skipped_sig(struct jp_thread *thread,
                            const struct jp_look *look)
{
    remember_sig(thread, look->seen.switches, look->seen.held, 0);
    thread->clock.cpu_ns = look->seen.before_ns + look->found.used_ns;
}

void jp_observe_done_sig(struct jp_thread *thread, int begins)
{
    uint64_t held;
    if (begins)
        thread->clock.wall.seen.delay_ns = jp_delay_sig();
    const uint64_t switches = jp_left_switches_sig(&held);
    const uint64_t ours =
        jp_used_since_sig(jp_used_cpu_sig(), thread->clock.cpu_ns);
    remember_sig(thread, switches, held, ours);
    thread->clock.cpu_ns += ours;
}

/* (A clock that cannot be read may also be a filter's doing.  The switches of
 * another thread cannot be asked for.) */
void jp_observe_end_sig(const struct jp_thread *thread, struct jp_end *end)
{
    const uint64_t before = thread->clock.cpu_ns;
    end->now_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t cpu = jp_used_of_sig(thread->tid);
    end->ran_ns = cpu > before ? cpu - before : 0;
    end->own = jp_sys_gettid_sig() == thread->tid;
    end->gone = cpu == 0 && jp_thread_is_gone_sig(thread->tid);
    end->goes_on = atomic_load(&jp_process.ended) == JP_ENDED_NOT;
    end->runs = atomic_load(&thread->hooks.runs);
    uint64_t held;
    end->switches = end->own ? jp_left_switches_sig(&held) : JP_LEFT_UNKNOWN;
}

void jp_observe_ended_sig(const struct jp_thread *thread, uint64_t now_ns)
{
    const uint64_t life = now_ns - thread->clock.wall.stratum.armed_ns;
    const uint64_t known = atomic_load(&life_ns);
    const uint64_t less = known - known / 8;
    atomic_store(&life_ns, life > less ? life : less);
    atomic_store(&ended_ns, now_ns);
}
