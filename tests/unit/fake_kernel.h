/* SPDX-License-Identifier: MIT
 *
 * The kernel as clocks see it: time that goes by only where a test says so,
 * and timers that remember what they were set to.  The library's calls come
 * here by the linker's --wrap (tests.mk).
 * Runs in: tests; included once in an executable, after cmocka.h. */
#ifndef JP_TEST_FAKE_KERNEL_H
#define JP_TEST_FAKE_KERNEL_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "../../preload/sig/os/sys.h"

#define FAKE_TIMERS 256

/* A function in place of one of the library's. */
#define FAKE(type, name, arguments)                                            \
    type __wrap_##name arguments;                                              \
    type __wrap_##name arguments

struct fake_timer {
    int made;
    clockid_t clock;
    uint64_t due_ns; /* by its clock; 0: stopped */
    uint64_t period_ns;
};

static struct fake_kernel {
    uint64_t now_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns; /* of any thread, where cpu_of is NULL */
    uint64_t process_ns;
    uint64_t (*cpu_of)(uint32_t tid);
    long switches;      /* how often the thread has blocked, */
    long held;          /* and how often it has lost its CPU */
    uint64_t delay_ns;  /* how long it has waited for a CPU */
    int refuses_timers; /* as when too many signals are pending */
    /* A test's own part: whether it answers a call, with *result. */
    int (*answers)(long number, const long a[5], long *result);
    struct fake_timer timers[FAKE_TIMERS];
} fake;

FAKE(uint64_t, jp_sys_clock_sig, (clockid_t clock))
{
    if (clock == CLOCK_PROCESS_CPUTIME_ID)
        return fake.process_ns;
    if (clock >= 0 && clock != CLOCK_THREAD_CPUTIME_ID)
        return fake.now_ns;
    /* See jp_thread_clock_of_sig. */
    return clock < 0 && fake.cpu_of != NULL
               ? fake.cpu_of(~((uint32_t)clock >> 3) & 0x1fffffffU)
               : fake.cpu_ns;
}

FAKE(uint64_t, jp_delay_sig, (void))
{
    return fake.delay_ns;
}

static uint64_t fake_ns(struct timespec time)
{
    return (uint64_t)time.tv_sec * JP_NS + (uint64_t)time.tv_nsec;
}

static long fake_create(clockid_t clock, int *id)
{
    int i = 0;
    if (fake.refuses_timers)
        return -EAGAIN;
    while (fake.timers[i].made) {
        if (++i == FAKE_TIMERS)
            return -ENOMEM;
    }
    fake.timers[i] = (struct fake_timer){.made = 1, .clock = clock};
    *id = i;
    return 0;
}

static struct fake_timer *fake_timer(long id)
{
    return id >= 0 && id < FAKE_TIMERS && fake.timers[id].made
               ? &fake.timers[id]
               : NULL;
}

static long fake_set(long id, const struct itimerspec *when)
{
    struct fake_timer *timer = fake_timer(id);
    const uint64_t first = fake_ns(when->it_value);
    if (timer == NULL)
        return -EINVAL;
    timer->due_ns =
        first != 0 ? __wrap_jp_sys_clock_sig(timer->clock) + first : 0;
    timer->period_ns = fake_ns(when->it_interval);
    return 0;
}

static long fake_delete(long id)
{
    struct fake_timer *timer = fake_timer(id);
    if (timer == NULL)
        return -EINVAL;
    timer->made = 0;
    return 0;
}

long __real_jp_sys_sig(long number, long a, long b, long c, long d, long e);
FAKE(long, jp_sys_sig, (long number, long a, long b, long c, long d, long e))
{
    const long all[5] = {a, b, c, d, e};
    long result;
    if (fake.answers != NULL && fake.answers(number, all, &result))
        return result;
    switch (number) {
    case SYS_timer_create:
        return fake_create((clockid_t)a, (int *)c);
    case SYS_timer_settime:
        return fake_set(a, (const struct itimerspec *)c);
    case SYS_timer_delete:
        return fake_delete(a);
    case SYS_getrusage:
        memset((void *)b, 0, sizeof(struct rusage));
        ((struct rusage *)b)->ru_nvcsw = fake.switches;
        ((struct rusage *)b)->ru_nivcsw = fake.held;
        return 0;
    default:
        return __real_jp_sys_sig(number, a, b, c, d, e);
    }
}

#endif
