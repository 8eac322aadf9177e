/* SPDX-License-Identifier: MIT
 *
 * Finding threads that the pthread_create hook has not seen.
 * Runs in: handler, any thread.
 *
 * A search may find a thread of the hook's just before the hook makes its
 * record live.  So that the thread does not keep two records, both sides
 * publish first and look afterwards.  The search counts an adoption, looks for
 * the thread's record, makes a new one live, and looks again; the hook makes
 * its record live, and looks if adoptions were counted since it took the
 * record.  At least one of the two sees the other, and the hook's record
 * always stays. */
#include "adopt.h"

#include <errno.h>
#include <sys/syscall.h>

#include "kernel_threads.h"
#include "sampling.h"
#include "sig/clock/clock.h"
#include "sig/timers/timer.h"
#include "sig/clock/process_timer.h"
#include "sig/os/dirent.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

#define SLICE 64U /* records looked at in a step */
#define PARTS 4U  /* reads of /proc/self/task in a step */
#define YIELDS 1000U

/* A thread that gave its record back, and then used this much CPU time on its
 * way out, is adopted again. */
#define OUT_NS 1000000U

static _Atomic uint32_t searching; /* 1: a thread searches, and has these: */
static long position;              /* in /proc/self/task, for the next step */
static uint32_t cursor;            /* in the table, for the next step */
static _Atomic uint64_t looked_ns; /* the last step that due_sig allowed */

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

/* The CPU time that a thread used without a record: all of it, or, for one that
 * gave its record back, what it used since (in the destructors of its
 * thread-local objects). */
static uint64_t unseen_sig(uint32_t tid)
{
    const uint64_t cpu = jp_sys_clock_sig(jp_thread_clock_of_sig(tid));
    const uint64_t ended = jp_thread_ended_cpu_sig(tid);
    return cpu > ended ? cpu - ended : 0;
}

int jp_adopt_has_run_sig(uint32_t tid)
{
    return jp_thread_ended_cpu_sig(tid) == 0 || unseen_sig(tid) >= OUT_NS;
}

/* Makes a record for a thread that has none.  data points to an int: 1 when the
 * thread began under the running profile; its first sample then stands for its
 * CPU time so far as well.  Where /proc belongs to an outer pid namespace, tid
 * is no thread of this process, and tgkill refuses it. */
static void adopt_sig(uint32_t tid, void *data)
{
    const int *late = data;
    jp_thread_count_adoptions_sig(1);
    if (tid == 0 || jp_thread_by_tid_sig(tid) != NULL ||
        !jp_adopt_has_run_sig(tid) ||
        jp_sys_sig(SYS_tgkill, jp_owner->pid, tid, 0, 0, 0) != 0 ||
        jp_kernel_threads_has_sig(tid, *late))
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
    /* The hook may have retired the record just before it was armed. */
    if (thread->tid == 0)
        jp_clock_disarm_sig(thread);
}

/* Adopts threads in /proc/self/task: all, or some from `position` on. */
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

/* Frees a record whose thread has ended without giving it back: one made past
 * the hook, or one that called SYS_exit. */
static void drop_if_gone_sig(struct jp_thread *thread)
{
    const uint32_t tid = thread->tid, generation = thread->generation;
    const uint32_t state = atomic_load(&thread->state);
    if ((state != JP_THREAD_IDLE && state != JP_THREAD_ARMED) ||
        !jp_thread_is_gone_sig(tid))
        return;
    if (!jp_clock_hold_sig(thread))
        return;
    /* The record may be another thread's by now. */
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

/* Whether the last step was a period of the slow timer ago; the first caller to
 * find that does the next step. */
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
    jp_kernel_threads_restart_sig();
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
    jp_kernel_threads_follow_sig(0);
    drop_dead_sig(SLICE);
    leave_sig();
}

void jp_adopt_settle_sig(void)
{
    if (!atomic_load(&jp_process.running) || !enter_sig(YIELDS))
        return;
    jp_kernel_threads_follow_sig(1);
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
    jp_kernel_threads_reset_sig();
}
