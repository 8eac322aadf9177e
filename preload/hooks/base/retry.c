/* SPDX-License-Identifier: MIT
 *
 * Calls that a signal ended early.
 * Runs in: any thread, the program's handlers. */
#include "retry.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "glibc.h"
#include "sig/arch/arch.h"
#include "sig/clock/clock_hrtimer.h"
#include "sig/os/restart.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/process.h"

/* How long a thread waits for another one to run its handler: this time, and at
 * least this much of its own CPU time, which on a busy machine takes longer,
 * and at a low priority (nice 19) much longer; so no more than the most. */
#define OTHERS_NS 100000000U
#define OTHERS_CPU_NS 10000000U
#define OTHERS_MOST_NS 1000000000U

__attribute__((noinline)) int jp_retry_begin(struct jp_retry *retry)
{
    return jp_retry_begin_as(retry, __builtin_return_address(0));
}

void jp_retry_end(struct jp_retry *retry)
{
    if (retry->thread != NULL)
        jp_hrtimer_leave_wait_sig(retry->thread, retry->outer);
}

int jp_retry_begin_as(struct jp_retry *retry, const void *call)
{
    if (atomic_load(&jp_owned.hushed) != 0)
        return 0;
    retry->thread = jp_local_thread();
    if (retry->thread == NULL)
        return 0;
    retry->runs =
        atomic_load_explicit(&retry->thread->hooks.runs, memory_order_relaxed);
    retry->shared =
        atomic_load_explicit(&jp_process.shared, memory_order_relaxed);
    retry->handled =
        atomic_load_explicit(&jp_process.handled, memory_order_relaxed);
    retry->told = atomic_load(&retry->thread->hooks.told);
    retry->theirs = jp_local.theirs;
    /* (The low bits of addresses behind calls of one function differ.) */
    retry->outer = jp_hrtimer_enter_wait_sig(
        retry->thread, (uint64_t)(uintptr_t)retry, (uintptr_t)call >> 2);
    return 1;
}

int jp_retry_take_ours(struct jp_retry *retry)
{
    const uint32_t runs = atomic_load(&retry->thread->hooks.runs);
    const uint32_t shared = atomic_load(&jp_process.shared);
    const int ours = (runs != retry->runs || shared != retry->shared) &&
                     jp_retry_undisturbed(retry);
    retry->runs = runs;
    retry->shared = shared;
    return ours;
}

/* Whether to go on waiting for another thread.  begin, used: the time and the
 * thread's CPU time when the waiting began; used 0: a filter forbids to ask. */
static int may_wait_on(uint64_t begin, uint64_t used)
{
    const uint64_t waited = jp_sys_clock_sig(CLOCK_MONOTONIC) - begin;
    return waited < OTHERS_NS ||
           (waited < OTHERS_MOST_NS && used != 0 &&
            jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) - used < OTHERS_CPU_NS);
}

/* Waits for a thread that handles a signal to the process, and that has not
 * counted it yet although the signal has woken this thread. */
static void await_others(const struct jp_retry *retry)
{
    const uint64_t begin = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t used = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    while (atomic_load(&jp_process.shared) == retry->shared &&
           jp_retry_undisturbed(retry) && may_wait_on(begin, used))
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
}

int jp_retry_interrupted(struct jp_retry *retry)
{
    if (jp_retry_take_ours(retry))
        return 1;
    if (jp_threads_taken_sig() < 2 || !jp_retry_undisturbed(retry))
        return 0;
    await_others(retry);
    /* Samples of the waiting itself say nothing about the call. */
    retry->runs = atomic_load(&retry->thread->hooks.runs);
    return jp_retry_take_ours(retry);
}

int jp_retry_undisturbed(const struct jp_retry *retry)
{
    return jp_local.theirs == retry->theirs &&
           (atomic_load(&retry->thread->hooks.told) == retry->told ||
            atomic_load(&jp_process.handled) == retry->handled);
}

/* Blocks all signals but those that do nothing and glibc's two (cancellation
 * and setxid, nptl(7)), and sets *before to the mask before.  jprof's are among
 * them: by one of these another thread tells of a handler that it ran, and that
 * is to come before the question or in the call, to end it.  Returns 0, with
 * that mask, if a handler of the program's has run. */
static int mask_signals(const struct jp_retry *retry, uint64_t *before)
{
    jp_sys_sigmask_sig(
        SIG_BLOCK, ~(atomic_load(&jp_owned.ignored) | JP_SIGNALS_LIBC), before);
    if (jp_retry_undisturbed(retry))
        return 1;
    jp_sys_sigmask_sig(SIG_SETMASK, *before, NULL);
    return 0;
}

struct masked {
    struct jp_thread *thread;
    uint64_t before;
};

static void unmask_signals(void *data)
{
    const struct masked *masked = data;
    atomic_store(&masked->thread->hooks.masked, 0);
    jp_sys_sigmask_sig(SIG_SETMASK, masked->before, NULL);
}

int jp_retry_masked(const struct jp_retry *retry,
                    int (*again)(void *subject, const sigset_t *mask),
                    void *subject)
{
    struct masked masked = {retry->thread, 0};
    sigset_t mask;
    if (!mask_signals(retry, &masked.before)) {
        errno = EINTR;
        return -1;
    }
    sigemptyset(&mask);
    jp_local_to_sigset(&mask, masked.before);
    int result, error;
    atomic_store(&retry->thread->hooks.blocked, masked.before);
    atomic_store(&retry->thread->hooks.masked, 1);
    pthread_cleanup_push(unmask_signals, &masked);
    result = again(subject, &mask);
    error = errno;
    pthread_cleanup_pop(1);
    errno = error;
    return result;
}

/* Whether jprof's handler returned to where the program's handler was called
 * from, the last time or the time before: another of jprof's signals may have
 * come at the first instruction of the program's handler. */
static int returned_to(const struct jp_thread *thread,
                       const ucontext_t *context)
{
    for (int i = 0; i < 2; i++) {
        if (thread->hooks.resumed[i].pc == jp_arch_pc_sig(context) &&
            thread->hooks.resumed[i].sp == jp_arch_sp_sig(context))
            return 1;
    }
    return 0;
}

/* If nothing ran in the thread since jprof's handler returned, the program's
 * signal came while that ran, and so while the thread was in the call, or just
 * before it.  (Where nothing tells the two, in it.) */
void jp_retry_force_eintr(ucontext_t *context)
{
    const struct jp_thread *thread = jp_local_known_thread();
    if (thread == NULL)
        thread = jp_thread_by_tid_sig(jp_sys_gettid_sig());
    if (thread == NULL || !returned_to(thread, context))
        return;
    if ((jp_arch_again_sig(context) || !jp_process.tells_again) &&
        jp_restart_by_flag_sig(jp_arch_call_sig(context),
                               jp_arch_second_sig(context)))
        jp_arch_skip_call_sig(context, -EINTR);
}

uint64_t jp_retry_out(void)
{
    struct jp_thread *thread = jp_local_known_thread();
    if (thread != NULL)
        jp_hrtimer_before_handler_sig(thread);
    return thread != NULL ? atomic_exchange(&thread->hooks.entered, 0) : 0;
}

void jp_retry_back(uint64_t entered)
{
    struct jp_thread *thread = jp_local_known_thread(); /* NULL after a fork */
    if (thread != NULL && entered != 0)
        atomic_store(&thread->hooks.entered, entered);
}

int64_t jp_retry_now(void)
{
    return (int64_t)jp_sys_clock_sig(CLOCK_MONOTONIC);
}

int64_t jp_retry_deadline(const struct timespec *wait)
{
    const int64_t longest = JP_NEVER / 4;
    if (wait == NULL || wait->tv_sec < 0 ||
        wait->tv_sec > longest / (int64_t)JP_NS)
        return JP_NEVER;
    return jp_retry_now() + wait->tv_sec * (int64_t)JP_NS + wait->tv_nsec;
}

struct timespec jp_retry_left(int64_t deadline)
{
    const int64_t now = jp_retry_now();
    const int64_t left = deadline > now ? deadline - now : 0;
    return (struct timespec){(time_t)(left / (int64_t)JP_NS),
                             (long)(left % (int64_t)JP_NS)};
}
