/* SPDX-License-Identifier: MIT
 *
 * The perf software clock.
 * Runs in: handler, any thread. */
#include "clock_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "clock_timer.h"
#include "process.h"
#include "slot.h"
#include "sys.h"

/* The CPU clock is read at one sample of so many at least, so that the sum of
 * the weights cannot drift away from it. */
#define READ_EVERY 8U

/* The numbers of events' descriptors begin here; 0: there was none yet. */
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
    jp_sys_opening_sig();
    return jp_sys_entered_sig((int)jp_sys_sig(SYS_perf_event_open,
                                              (long)&attributes, (long)tid,
                                              -1, -1, PERF_FLAG_FD_CLOEXEC));
}

int jp_clock_perf_allowed_sig(void)
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

/* The number that an event's descriptor has for a moment, which its signals
 * carry for ever (si_fd): in the upper half of what the process may open, where
 * hardly a program's own are, but not so high that the kernel's table of them
 * becomes large. */
static int number_sig(uint32_t index)
{
    struct rlimit limit = {0, 0};
    jp_sys_sig(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0);
    const uint64_t most = limit.rlim_cur < 4096 ? limit.rlim_cur : 4096;
    const uint64_t low = most / 2;
    atomic_store(&lowest, (int)low);
    return most > low ? (int)(low + index % (most - low)) : 0;
}

/* Has the event's signal sent, as descriptor `fd`, to its thread. */
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

/* Moves the event into a mapping and sets it going. */
static int keep_sig(struct jp_slot *slot, int fd)
{
    long error = direct_sig(fd, slot->tid, slot->signal);
    if (error != 0)
        return (int)error;
    void *page = jp_sys_map_file_sig(fd, 0, jp_process.page_size);
    if (page == NULL)
        return -EPERM;
    slot->event = page;
    slot->number = fd;
    error = jp_sys_sig(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0, 0, 0);
    if (error != 0)
        jp_clock_perf_disarm_sig(slot);
    return (int)error;
}

static int make_sig(struct jp_slot *slot)
{
    const int first = open_event_sig(slot->tid, slot->budget.period_ns);
    if (first < 0)
        return first;
    const int wanted = number_sig(jp_slot_index_sig(slot));
    jp_sys_opening_sig();
    const int fd = jp_sys_entered_sig(
        (int)fcntl_sig(first, F_DUPFD_CLOEXEC, wanted));
    jp_sys_close_sig(first);
    if (fd < 0)
        return fd;
    const int error = keep_sig(slot, fd);
    jp_sys_close_sig(fd);
    return error;
}

int jp_clock_perf_arm_sig(struct jp_slot *slot)
{
    /* A signal may come as soon as the event is there. */
    slot->unread = 0;
    slot->time_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    slot->cpu_ns = jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid));
    return make_sig(slot);
}

int jp_clock_perf_pace_sig(struct jp_slot *slot)
{
    jp_clock_perf_disarm_sig(slot);
    return make_sig(slot);
}

uint64_t jp_clock_perf_rest_sig(struct jp_slot *slot, uint64_t least_ns)
{
    const uint64_t cpu = jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid));
    if (cpu <= slot->cpu_ns + least_ns)
        return 0;
    const uint64_t rest = cpu - slot->cpu_ns;
    slot->cpu_ns = cpu;
    return rest;
}

void jp_clock_perf_disarm_sig(struct jp_slot *slot)
{
    jp_sys_unmap_sig(slot->event, jp_process.page_size);
    slot->event = NULL;
    slot->number = -1;
}

int jp_clock_perf_value_sig(const siginfo_t *info)
{
    const int low = atomic_load(&lowest);
    return low != 0 && info->si_code == POLL_IN && info->si_fd >= low;
}

/* Where a filter of the program's keeps us from asking who we are: the number
 * alone tells, as long as there are not more threads than numbers. */
static struct jp_slot *by_number_sig(int number)
{
    const uint32_t count = jp_slots_count_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_slot *slot = jp_slot_at_sig(i);
        if (slot->number == number &&
            atomic_load(&slot->state) == JP_SLOT_ARMED)
            return slot;
    }
    return NULL;
}

static int is_event_of_sig(const struct jp_slot *slot, const siginfo_t *info)
{
    return slot != NULL && slot->event != NULL && slot->number == info->si_fd;
}

struct jp_slot *jp_clock_perf_slot_sig(const siginfo_t *info, uint64_t sp)
{
    struct jp_slot *slot = jp_slot_here_sig(sp);
    if (is_event_of_sig(slot, info))
        return slot;
    const uint32_t tid = jp_sys_gettid_sig();
    slot = tid != 0 ? jp_slot_by_tid_sig(tid) : by_number_sig(info->si_fd);
    if (!is_event_of_sig(slot, info))
        return NULL;
    jp_slot_remember_sig(slot);
    return slot;
}

/* Weights follow the thread's own CPU clock: what the kernel merged in one
 * long call (there is no overrun count) is in the next sample's.  Where
 * samples come a period after another, the clock is not asked.  One that comes
 * long before its period is over was pending when that was made longer. */
uint64_t jp_clock_perf_weight_sig(struct jp_slot *slot, uint64_t now_ns)
{
    const uint64_t period = jp_config.period_ns;
    const uint64_t gap = now_ns - slot->time_ns;
    slot->time_ns = now_ns;
    const int exact = jp_budget_exact_sig(&slot->budget);
    if (!exact && gap <= period + period / 2 && ++slot->unread < READ_EVERY) {
        slot->cpu_ns += period;
        return period;
    }
    slot->unread = 0;
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    const int64_t used = (int64_t)(cpu - slot->cpu_ns);
    if (used <= 0 || (exact && (uint64_t)used < slot->budget.period_ns / 4))
        return 0;
    slot->cpu_ns = cpu;
    return (uint64_t)used;
}
