/* SPDX-License-Identifier: MIT
 *
 * What tests of the weights of CPU clocks share: a kernel that they move, and a
 * thread that is armed in it.
 * Runs in: tests. */
#ifndef TEST_TICKED_H
#define TEST_TICKED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "pass.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/clock/clock_itimer.h"
#include "../../preload/sig/clock/clock_perf.h"
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/handler.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define TICK (4 * MS)
#define TID 100U
#define LIVES 40000 /* threads of which a mean is taken */
#define EVENT_FD 700

static uint64_t counts[JP_COUNT_COUNT];
static int refuses_events;
static int events;              /* perf events that are there */
static uint64_t event_ns;       /* the period of the last one */
static struct itimerval shared; /* the process's timer */
static uint64_t seed;

FAKE(void *, jp_sys_map_file_sig, (int fd, uint64_t offset, size_t size))
{
    static uint64_t page[512];
    (void)fd, (void)offset, (void)size;
    events++;
    return page;
}

FAKE(void, jp_sys_unmap_sig, (void *address, size_t size))
{
    (void)address, (void)size;
    events--;
}

void __real_jp_sys_close_sig(int fd);
FAKE(void, jp_sys_close_sig, (int fd))
{
    if (fd < EVENT_FD)
        __real_jp_sys_close_sig(fd);
}

static int answers(long number, const long a[5], long *result)
{
    *result = 0;
    switch (number) {
    case SYS_perf_event_open:
        event_ns = ((const struct perf_event_attr *)a[0])->sample_period;
        *result = refuses_events ? -EACCES : EVENT_FD;
        return 1;
    case SYS_fcntl:
        *result = a[1] == F_DUPFD_CLOEXEC ? EVENT_FD + a[2] : 0;
        return 1;
    case SYS_ioctl:
        return 1;
    case SYS_setitimer:
        shared = *(const struct itimerval *)a[1];
        return 1;
    default:
        return 0;
    }
}

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    memset(counts, 0, sizeof(counts));
    fake.answers = answers;
    fake.now_ns = 1000 * JP_NS;
    fake.cpu_ns = fake.process_ns = JP_NS;
    refuses_events = events = 0;
    seed = 0x9e3779b97f4a7c15ULL;
    jp_process.page_size = 4096;
    jp_process.tick_ns = TICK;
    jp_process.clock = &jp_clock_timer;
    jp_process.signal = SIGPROF;
    jp_config.period_ns = 10 * MS;
    jp_counters_use_sig(counts);
    if (jp_threads_init_sig() != 0)
        return -1;
    jp_threads_reset_sig();
    return 0;
}

/* From 1 to most, the same in each run. */
static uint64_t random_to(uint64_t most)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % most + 1;
}

static struct jp_thread *begin(void)
{
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    jp_thread_begin_sig(thread, TID);
    jp_clock_arm_sig(thread);
    assert_non_null(thread->clock.kind);
    return thread;
}

static void end(struct jp_thread *thread)
{
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
}

/* What a signal of the record's clock stands for, now. */
__attribute__((unused)) static uint64_t due(struct jp_thread *thread,
                                            int overrun)
{
    siginfo_t info = {.si_code = SI_TIMER};
    const struct jp_signal signal = {
        .number = SIGPROF, .info = &info, .now_ns = fake.now_ns};
    struct jp_due weight = {0};
    info.si_overrun = overrun;
    assert_true(take_due(thread->clock.kind, thread, &signal, &weight));
    assert_int_equal(weight.counted_ns, weight.cpu);
    return weight.cpu;
}

__attribute__((unused)) static void run_for(uint64_t ns)
{
    fake.cpu_ns += ns;
    fake.now_ns += ns;
}

/* The thread has come to a tick: its timer's signal, if that has run out. */
__attribute__((unused)) static uint64_t tick(struct jp_thread *thread)
{
    struct fake_timer *timer = fake_timer(thread->clock.timer);
    assert_non_null(timer);
    if (timer->due_ns == 0 || fake.cpu_ns < timer->due_ns)
        return 0;
    const uint64_t more = (fake.cpu_ns - timer->due_ns) / timer->period_ns;
    timer->due_ns += (more + 1) * timer->period_ns;
    return due(thread, (int)more);
}

#endif
