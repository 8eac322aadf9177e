/* SPDX-License-Identifier: MIT
 *
 * The clock kind of the perf software clock.
 * Runs in: handler, any thread. */
#include "clock_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "clock_timer.h"
#include "jp_log.h"
#include "sig/timers/used.h"
#include "sig/arch/arch.h"
#include "sig/files/notes.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

/* At least one sample of so many reads the thread's CPU clock, so that the sum
 * of the weights cannot drift away from it. */
#define READ_EVERY 8U

#define FIRST_REAL_TIME_SIGNAL 32 /* the kernel's SIGRTMIN, signal(7) */

/* The lowest number that events' descriptors have; 0: no event was made yet. */
static _Atomic int lowest;

/* The fields of struct f_owner_ex, fcntl(2). */
struct owner {
    int type;
    int pid;
};

static int open_event_sig(uint32_t tid, uint64_t period)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period,
        .disabled = 1,
    };
    jp_sys_before_open_sig();
    return jp_sys_after_open_sig((int)jp_sys_sig(SYS_perf_event_open,
                                                 (long)&attributes, (long)tid,
                                                 -1, -1, PERF_FLAG_FD_CLOEXEC));
}

/* Tries an event that counts the kernel's time as well: without that, time that
 * a program spends in the kernel would not be seen. */
static int allowed_sig(void)
{
    const int fd = open_event_sig(0, JP_NS);
    if (fd < 0)
        return 0;
    jp_sys_close_sig(fd);
    return 1;
}

static long fcntl_sig(int fd, int command, long argument)
{
    return jp_sys_sig(SYS_fcntl, fd, command, argument, 0, 0);
}

/* The number for an event's descriptor.  The descriptor is closed at once, but
 * the event's signals carry its number (si_fd).  It is in the upper half of
 * what the process may open, where a program hardly has its own, but not so
 * high that the kernel's table of descriptors becomes large. */
static int number_sig(uint32_t index)
{
    struct rlimit limit = {0, 0};
    jp_sys_sig(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0);
    const uint64_t most = limit.rlim_cur < 4096 ? limit.rlim_cur : 4096;
    const uint64_t low = most / 2;
    atomic_store(&lowest, (int)low);
    return most > low ? (int)(low + index % (most - low)) : 0;
}

/* Has the event send its signal, with number `fd`, to the thread. */
static long direct_sig(int fd, uint32_t tid, int signal)
{
    const struct owner owner = {F_OWNER_TID, (int)tid};
    long error = fcntl_sig(fd, F_SETOWN_EX, (long)&owner);
    if (error == 0)
        error = fcntl_sig(fd, F_SETSIG, signal);
    if (error == 0)
        error = fcntl_sig(fd, F_SETFL, O_RDONLY | O_NONBLOCK | O_ASYNC);
    return error;
}

static void disarm_sig(struct jp_thread *thread)
{
    jp_sys_unmap_sig(thread->clock.event, jp_process.page_size);
    thread->clock.event = NULL;
    thread->clock.descriptor = -1;
}

/* Maps a page of the event, which keeps it open without the descriptor, and
 * starts it.  Returns 0 or -errno. */
static int keep_sig(struct jp_thread *thread, int fd)
{
    long error = direct_sig(fd, thread->tid, thread->clock.signal);
    if (error != 0)
        return (int)error;
    void *page = jp_sys_map_file_sig(fd, 0, jp_process.page_size);
    if (page == NULL)
        return -EPERM;
    thread->clock.event = page;
    thread->clock.descriptor = fd;
    error = jp_sys_sig(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0, 0, 0);
    if (error != 0)
        disarm_sig(thread);
    return (int)error;
}

static int make_sig(struct jp_thread *thread)
{
    const int first =
        open_event_sig(thread->tid, thread->clock.budget.period_ns);
    if (first < 0)
        return first;
    const int wanted = number_sig(jp_thread_index_sig(thread));
    jp_sys_before_open_sig();
    const int fd =
        jp_sys_after_open_sig((int)fcntl_sig(first, F_DUPFD_CLOEXEC, wanted));
    jp_sys_close_sig(first);
    if (fd < 0)
        return fd;
    const int error = keep_sig(thread, fd);
    jp_sys_close_sig(fd);
    return error;
}

/* Time is counted from now on; the caller sees to what the thread did
 * before. */
static int arm_sig(struct jp_thread *thread)
{
    /* A signal may come as soon as the event is there. */
    thread->clock.unread = 0;
    thread->clock.time_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    thread->clock.cpu_ns =
        jp_sys_clock_sig(jp_thread_clock_of_sig(thread->tid));
    return make_sig(thread);
}

/* Makes the event anew with the budget's period.  The CPU time since the last
 * sample is not lost, as weights come from the CPU clock. */
static int pace_sig(struct jp_thread *thread)
{
    disarm_sig(thread);
    return make_sig(thread);
}

static uint64_t unsampled_sig(struct jp_thread *thread)
{
    const uint64_t cpu = jp_sys_clock_sig(jp_thread_clock_of_sig(thread->tid));
    return jp_used_unsampled_sig(thread, cpu, JP_CLOCK_FLUSH_MIN_NS + 1);
}

/* The time of periods that ended without a signal, when the clock stops: the
 * thread kept signals back until then, or what runs it did, as valgrind does. A
 * signal that comes a little late does not count as missing. */
static uint64_t missed_ticks_sig(struct jp_thread *thread)
{
    const uint64_t period = jp_config.period_ns;
    const uint64_t cpu = jp_sys_clock_sig(jp_thread_clock_of_sig(thread->tid));
    if (cpu < thread->clock.cpu_ns + period + period / 2)
        return 0;
    const uint64_t missed = (cpu - thread->clock.cpu_ns) / period * period;
    thread->clock.cpu_ns += missed;
    return missed;
}

/* Tells such a signal by its number alone: its event may be gone by now. */
static int owns_sig(const struct jp_signal *signal)
{
    const int low = atomic_load(&lowest);
    return low != 0 && signal->info->si_code == POLL_IN &&
           signal->info->si_fd >= low;
}

/* For a thread whose id a filter forbids to ask: finds its record by the
 * event's number, which is right while there are not more threads than
 * numbers. */
static struct jp_thread *by_number_sig(int number)
{
    const uint32_t count = jp_threads_used_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_thread *thread = jp_thread_at_sig(i);
        if (thread->clock.descriptor == number &&
            atomic_load(&thread->state) == JP_THREAD_ARMED)
            return thread;
    }
    return NULL;
}

static int is_event_of_sig(const struct jp_thread *thread,
                           const siginfo_t *info)
{
    return thread != NULL && thread->clock.event != NULL &&
           thread->clock.descriptor == info->si_fd;
}

static struct jp_thread *find_sig(const struct jp_signal *signal)
{
    const siginfo_t *info = signal->info;
    struct jp_thread *thread =
        jp_thread_here_sig(jp_arch_sp_sig(signal->context));
    if (is_event_of_sig(thread, info))
        return thread;
    const uint32_t tid = jp_sys_gettid_sig();
    thread = tid != 0 ? jp_thread_by_tid_sig(tid) : by_number_sig(info->si_fd);
    if (!is_event_of_sig(thread, info))
        return NULL;
    jp_thread_remember_sig(thread);
    return thread;
}

/* The weight of a signal, from the thread's CPU clock: there is no overrun
 * count, so signals that the kernel merged in one long call are made up for by
 * the next sample.  While samples come one period after another, the clock is
 * not read.  A signal that comes long before a lengthened period is over was
 * sent before the period changed, and weighs nothing.  Where a filter forbids
 * to read the clock, each signal is a period. */
static uint64_t weigh_sig(struct jp_thread *thread, uint64_t now_ns)
{
    const uint64_t period = jp_config.period_ns;
    const uint64_t gap = now_ns - thread->clock.time_ns;
    thread->clock.time_ns = now_ns;
    const int exact = jp_budget_exact_sig(&thread->clock.budget);
    if (!exact && gap <= period + period / 2 &&
        ++thread->clock.unread < READ_EVERY) {
        thread->clock.cpu_ns += period;
        return period;
    }
    thread->clock.unread = 0;
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    if (cpu == 0) {
        thread->clock.cpu_ns += thread->clock.budget.period_ns;
        return thread->clock.budget.period_ns;
    }
    const int64_t used = (int64_t)(cpu - thread->clock.cpu_ns);
    if (used <= 0 ||
        (exact && (uint64_t)used < thread->clock.budget.period_ns / 4))
        return 0;
    thread->clock.cpu_ns = cpu;
    return (uint64_t)used;
}

static enum jp_observed observe_sig(struct jp_pass *pass)
{
    /* The thread lost its CPU in the handler, and meanwhile the profile was
     * paused and started: cpu_ns is another clock's now. */
    if (pass->thread->clock.event == NULL)
        return JP_OBSERVED_NONE;
    pass->due.cpu = weigh_sig(pass->thread, pass->signal.now_ns);
    pass->due.probes = 1;
    return JP_OBSERVED_DUE;
}

/* No real-time signals: when their queue is full, F_SETSIG sends SIGIO instead,
 * whose default action kills. */
static int sends_sig(int signal)
{
    return signal < FIRST_REAL_TIME_SIGNAL;
}

/* The clock's signal tells the parent's events from the program's own: a
 * program that used this signal would have made the clock leave it. */
static int is_descriptor_sig(int fd)
{
    return fcntl_sig(fd, F_GETSIG, 0) == jp_process.signal;
}

const struct jp_clock_kind jp_clock_perf = {
    .id = JP_CLOCK_PERF,
    .per_thread = 1,
    .cpu = 1,
    .interrupts = 1,
    .exact = 1,
    .outlives_exec = 1,
    .call = SYS_perf_event_open,
    .count_refused = JP_COUNT_NO_PERF,
    .count_filtered = JP_COUNT_NO_PERF_FILTER,
    .sends = sends_sig,
    .note_refused = JP_NOTE_NO_PERF,
    .allowed = allowed_sig,
    .then = &jp_clock_timer,
    .begins_with = &jp_clock_timer,
    .owns = owns_sig,
    .find = find_sig,
    .observe = observe_sig,
    .arm = arm_sig,
    .disarm = disarm_sig,
    .pace = pace_sig,
    .unsampled = unsampled_sig,
    .missed_ticks = missed_ticks_sig,
    .is_descriptor = is_descriptor_sig,
};
