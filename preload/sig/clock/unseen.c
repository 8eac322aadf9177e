/* SPDX-License-Identifier: MIT
 *
 * The CPU time of threads that were refused a clock of their own.
 * Runs in: handler, any thread.
 *
 * A thread may always read its own CPU clock.  Behind a filter such as
 * Chromium's no other thread may do so: what it has used since a signal last
 * found it is not known when the process ends.  But the sum of it is, as the
 * process's own clock can be read.  Ticks find a thread at random, one in a
 * tick of its CPU time on the average.  So a thread that uses T has a tick's
 * time times 1 - exp(-T / tick) behind the last one on the average, or before
 * the end if none found it, and exp(-T / tick) is the probability that none
 * did: if each thread that was found gets a tick's time at the end, and each
 * other one nothing, the expected sum is right for threads of every length.
 * Since the sum is known, such threads have equal shares of it. */
#include "unseen.h"

#include <stdatomic.h>

#include "clock.h"
#include "process_timer.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "sig/timers/used.h"

/* Less CPU time than this, as a thread uses at its end after it was last asked
 * for, is no record. */
#define LEFT_NS 100000U

/* A share is at most so many ticks: what else the process has used was not
 * these threads' doing. */
#define SHARE_TICKS 2U

/* For a thread whose profile has stopped: what it uses from then on is not to
 * be sampled. */
#define STOPPED UINT64_MAX

static _Atomic uint64_t share_ns; /* of each thread, at the profile's end */

/* Whether the thread goes without a clock of its own, as it was refused one. */
static int has_none_sig(const struct jp_thread *thread)
{
    return (thread->clock.refused & JP_REFUSED_FIRST) != 0 &&
           jp_process.clock->per_thread;
}

/* What the calling thread has used since it was last asked for, once.  A signal
 * that was on its way when the profile was paused leaves STOPPED there. */
static uint64_t unseen_sig(struct jp_thread *thread)
{
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    uint64_t seen = atomic_load(&thread->clock.seen_ns);
    do {
        if (cpu == 0 || atomic_load(&jp_process.running) == 0)
            return 0;
    } while (
        !atomic_compare_exchange_strong(&thread->clock.seen_ns, &seen, cpu));
    return cpu > seen ? cpu - seen : 0;
}

uint64_t jp_unseen_signal_sig(struct jp_thread *thread)
{
    uint64_t carried = jp_clock_take_carried_sig(thread);
    if (!has_none_sig(thread))
        return carried;
    carried += unseen_sig(thread);
    /* The kernel may allow a timer by now. */
    if (atomic_load(&jp_process.running))
        jp_clock_arm_sig(thread);
    return carried;
}

/* Whether a signal has found the thread. */
static int was_found_sig(const struct jp_thread *thread)
{
    return thread->last.sampled_ns != 0;
}

/* What a thread that has used cpu_ns (0: not known) has left, if samples cover
 * seen_ns of it. */
static uint64_t left_sig(const struct jp_thread *thread, uint64_t cpu_ns,
                         uint64_t seen_ns)
{
    uint64_t left = cpu_ns > seen_ns ? cpu_ns - seen_ns : 0;
    if (cpu_ns == 0 && seen_ns != STOPPED && was_found_sig(thread))
        left = atomic_load(&share_ns);
    return left < LEFT_NS ? 0 : left;
}

/* (A signal may come to the thread meanwhile, and stand for the same time.) */
uint64_t jp_unseen_left_sig(struct jp_thread *thread)
{
    if (!has_none_sig(thread))
        return 0;
    const int stopped = atomic_load(&jp_process.running) == 0;
    const uint64_t cpu = jp_used_of_sig(thread->tid);
    uint64_t seen = atomic_load(&thread->clock.seen_ns), left;
    do {
        left = left_sig(thread, cpu, seen);
    } while (!atomic_compare_exchange_strong(&thread->clock.seen_ns, &seen,
                                             stopped ? STOPPED : seen + left));
    return left;
}

/* What is known of the CPU time of a thread whose clock cannot be read: when
 * its own clock was armed, or a signal of its found it last, and the periods
 * that have ended since. */
static uint64_t known_sig(const struct jp_thread *thread)
{
    return has_none_sig(thread)
               ? atomic_load(&thread->clock.seen_ns)
               : thread->clock.cpu_ns +
                     atomic_load(&thread->clock.periods) * jp_config.period_ns;
}

void jp_unseen_share_sig(void)
{
    const uint64_t all = jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    const uint32_t count = jp_threads_used_sig();
    uint64_t known = jp_threads_ended_sig() + jp_threads_gone_sig();
    uint64_t most = jp_process.tick_ns;
    uint32_t shares = 0;
    atomic_store(&share_ns, 0);
    /* (A timer that is refused for another reason leaves the clocks.) */
    if (!jp_process_timer_is_hastened_sig())
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct jp_thread *thread = jp_thread_at_sig(i);
        const uint32_t tid = thread->tid;
        if (atomic_load(&thread->state) < JP_THREAD_IDLE || tid == 0)
            continue;
        if (atomic_load(&thread->clock.seen_ns) == STOPPED)
            return;
        const uint64_t cpu = jp_used_of_sig(tid);
        known += cpu != 0 ? cpu : known_sig(thread);
        shares += cpu == 0 && has_none_sig(thread) && was_found_sig(thread);
    }
    if (most < jp_config.period_ns)
        most = jp_config.period_ns;
    if (shares == 0 || all <= known)
        return;
    const uint64_t share = (all - known) / shares;
    atomic_store(&share_ns,
                 share < SHARE_TICKS * most ? share : SHARE_TICKS * most);
}
