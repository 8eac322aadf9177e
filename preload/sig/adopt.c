/* SPDX-License-Identifier: MIT
 *
 * Threads that nobody announced.
 * Runs in: handler, any thread.
 *
 * A thread may be found here in the moment before the hook's own start makes
 * its record live.  Both sides publish first and look afterwards: whoever comes
 * here counts `adoptions` up, looks for the thread, publishes, looks again;
 * the hook publishes and looks when the count has changed.  So one of them at
 * least sees the other, and the hook's record always stays. */
#include "adopt.h"

#include <errno.h>
#include <sys/syscall.h>

#include "sampling.h"
#include "sig/clock/clock.h"
#include "sig/clock/clock_timer.h"
#include "sig/clock/process_timer.h"
#include "sig/os/dirent.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

#define SLICE 64U /* records looked at in a step */
#define PARTS 4U  /* of the folder, likewise */
#define YIELDS 1000U

/* A thread that has ended is adopted again if that takes it so long. */
#define OUT_NS 1000000U

static _Atomic uint32_t searching; /* the rest is whose it is */
static long position;              /* in the folder, for the next slice */
static uint32_t cursor;            /* likewise in the records */
static _Atomic uint64_t looked_ns; /* the last step, where that counts */

static int enter_sig(unsigned yields)
{
    while (atomic_exchange(&searching, 1) != 0) {
        if (yields-- == 0)
            return 0;
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    return 1;
}

static void leave_sig(void)
{
    atomic_store(&searching, 0);
}

/* What a thread did without a record: all, or what it does on its way out, once
 * its record is given back (the destructors of its thread-local objects). */
static uint64_t unseen_sig(uint32_t tid)
{
    const uint64_t cpu = jp_sys_clock_sig(jp_clock_of_thread_sig(tid));
    const uint64_t ended = jp_thread_ended_cpu_sig(tid);
    return cpu > ended ? cpu - ended : 0;
}

int jp_adopt_has_run_sig(uint32_t tid)
{
    return jp_thread_ended_cpu_sig(tid) == 0 || unseen_sig(tid) >= OUT_NS;
}

/* data: whether the thread began under a running profile, which has missed
 * what it did so far; its first sample stands for that as well.  Where /proc
 * is that of an outer pid namespace, the number is none of ours. */
static void adopt_sig(uint32_t tid, void *data)
{
    const int *late = data;
    jp_thread_count_adoptions_sig(1);
    if (tid == 0 || jp_thread_by_tid_sig(tid) != NULL ||
        !jp_adopt_has_run_sig(tid) ||
        jp_sys_sig(SYS_tgkill, jp_owner->pid, tid, 0, 0, 0) != 0)
        return;
    struct jp_thread *thread = jp_thread_new_sig();
    if (thread == NULL)
        return;
    thread->adopted = 1;
    if (*late && jp_clock_is_thread_cpu_sig())
        thread->clock.carried_ns = unseen_sig(tid);
    jp_thread_begin_sig(thread, tid);
    if (jp_thread_other_sig(thread) != NULL)
        jp_thread_retire_sig(thread);
    else if (atomic_load(&jp_process.running))
        jp_clock_arm_sig(thread);
    /* The hook's start may have come just before the clock. */
    if (thread->tid == 0)
        jp_clock_disarm_sig(thread);
}

/* Looks at all threads, or at some from `position` on. */
static void look_for_new_sig(int all)
{
    int late = !all;
    const int fd =
        jp_sys_open_sig("/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return;
    if (all)
        position = 0;
    jp_sys_sig(SYS_lseek, fd, position, SEEK_SET, 0, 0);
    for (unsigned i = 0; i < PARTS || all; i++) {
        position = jp_dirent_part_sig(fd, adopt_sig, &late);
        if (position == 0)
            break;
    }
    jp_sys_close_sig(fd);
}

static int is_gone_sig(uint32_t tid)
{
    return tid == 0 ||
           jp_sys_sig(SYS_tgkill, jp_owner->pid, tid, 0, 0, 0) == -ESRCH;
}

/* Frees the record of a thread that ended without a word: one made past the
 * hook, or one that left by the system call. */
static void drop_if_gone_sig(struct jp_thread *thread)
{
    const uint32_t tid = thread->tid, generation = thread->generation;
    const uint32_t state = atomic_load(&thread->state);
    if ((state != JP_THREAD_IDLE && state != JP_THREAD_ARMED) ||
        !is_gone_sig(tid))
        return;
    if (!jp_clock_hold_sig(thread))
        return;
    /* It may be another thread's by now. */
    if (thread->tid != tid || thread->generation != generation) {
        jp_clock_release_sig(thread);
        return;
    }
    jp_clock_stop_held_sig(thread);
    if (thread->buffer != NULL) {
        jp_sampling_flush_sig(thread->buffer);
        jp_buffer_return_sig(thread->buffer);
    }
    jp_thread_free_sig(thread);
}

static void drop_dead_sig(uint32_t most)
{
    const uint32_t count = jp_threads_used_sig();
    for (uint32_t i = 0; i < count && i < most; i++) {
        if (cursor >= count)
            cursor = 0;
        drop_if_gone_sig(jp_thread_at_sig(cursor++));
    }
}

/* Whether the last step was a while ago; then this is one. */
static int due_sig(uint64_t now_ns)
{
    uint64_t last = atomic_load(&looked_ns);
    return now_ns - last >= JP_PROCESS_TIMER_NS &&
           atomic_compare_exchange_strong(&looked_ns, &last, now_ns);
}

void jp_adopt_all_sig(void)
{
    if (!enter_sig(YIELDS))
        return;
    drop_dead_sig(UINT32_MAX);
    look_for_new_sig(1);
    leave_sig();
}

void jp_adopt_step_sig(void)
{
    if (jp_process_timer_is_hastened_sig() &&
        !due_sig(jp_sys_clock_sig(CLOCK_MONOTONIC)))
        return;
    if (!enter_sig(0))
        return;
    look_for_new_sig(0);
    drop_dead_sig(SLICE);
    leave_sig();
}

struct jp_thread *jp_adopt_self_sig(uint64_t stack_high)
{
    const uint32_t tid = jp_sys_gettid_sig();
    jp_thread_count_adoptions_sig(1);
    struct jp_thread *thread = jp_thread_new_sig();
    if (thread == NULL)
        return NULL;
    thread->stack.high = stack_high;
    thread->adopted = stack_high == 0;
    if (atomic_load(&jp_process.running) && jp_clock_is_thread_cpu_sig())
        thread->clock.carried_ns = unseen_sig(tid);
    jp_thread_begin_sig(thread, tid);
    return thread;
}

static void take_away_sig(struct jp_thread *thread)
{
    if (!thread->adopted)
        return;
    jp_thread_retire_sig(thread);
    jp_clock_disarm_sig(thread);
}

void jp_adopt_begin_sig(struct jp_thread *thread, uint32_t tid)
{
    struct jp_thread *other = jp_thread_hinted_sig(tid);
    jp_thread_begin_sig(thread, tid);
    if (other != NULL)
        take_away_sig(other);
    if (thread->adoptions != jp_thread_count_adoptions_sig(0) &&
        (other = jp_thread_other_sig(thread)) != NULL)
        take_away_sig(other);
}

void jp_adopt_poll_without_timer_sig(uint64_t now_ns)
{
    if (jp_process_timer_runs_sig())
        return;
    if (due_sig(now_ns))
        jp_adopt_step_sig();
}

void jp_adopt_reset_sig(void)
{
    atomic_store(&searching, 0);
    position = 0;
    cursor = 0;
}
