/* SPDX-License-Identifier: MIT
 *
 * POSIX timers, and random times.
 * Runs in: handler, any thread. */
#include "timer.h"

#include <sys/syscall.h>

#include "jp_log.h"
#include "random.h"
#include "sig/arch/arch.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

static struct timespec time_sig(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / JP_NS), (long)(ns % JP_NS)};
}

uint64_t jp_clock_draw_sig(uint32_t salt)
{
    return jp_random_hash_sig(jp_sys_clock_sig(CLOCK_MONOTONIC) + salt);
}

uint64_t jp_clock_random_sig(uint32_t salt, uint64_t most)
{
    return jp_random_below_sig(jp_clock_draw_sig(salt), most);
}

int jp_clock_make_timer_sig(clockid_t clock, struct sigevent *event,
                            uint64_t first, uint64_t period)
{
    int timer = -1;
    const struct itimerspec when = {time_sig(period), time_sig(first)};
    long result =
        jp_sys_sig(SYS_timer_create, clock, (long)event, (long)&timer, 0, 0);
    if (result != 0)
        return (int)result;
    result = jp_sys_sig(SYS_timer_settime, timer, 0, (long)&when, 0, 0);
    if (result == 0)
        return timer;
    jp_sys_sig(SYS_timer_delete, timer, 0, 0, 0, 0);
    return (int)result;
}

void jp_clock_set_timer_sig(int timer, uint64_t first, uint64_t period)
{
    const struct itimerspec when = {time_sig(period), time_sig(first)};
    jp_sys_sig(SYS_timer_settime, timer, 0, (long)&when, 0, 0);
}

void jp_clock_set_timer_last_sig(int timer, uint64_t first, uint64_t period)
{
    const struct itimerspec when = {time_sig(period), time_sig(first)};
    const long arguments[6] = {timer, 0, (long)&when, 0, 0, 0};
    jp_arch_syscall_sig(SYS_timer_settime, arguments);
}

int jp_clock_thread_timer_sig(const struct jp_thread *thread, clockid_t clock,
                              uint64_t first, uint64_t period)
{
    struct sigevent event = {.sigev_signo = jp_process.signal,
                             .sigev_notify = SIGEV_THREAD_ID};
    event.sigev_value.sival_ptr = (void *)jp_thread_value_sig(thread);
    event._sigev_un._tid = (pid_t)thread->tid;
    return jp_clock_make_timer_sig(clock, &event, first, period);
}

static void delete_sig(_Atomic int32_t *timer)
{
    if (*timer >= 0)
        jp_sys_sig(SYS_timer_delete, *timer, 0, 0, 0, 0);
    *timer = -1;
}

void jp_clock_timer_disarm_sig(struct jp_thread *thread)
{
    delete_sig(&thread->clock.timer);
    delete_sig(&thread->clock.cpu_wakeup);
}

uint64_t jp_clock_weight_sig(int overrun)
{
    uint64_t periods = overrun > 0 ? 1 + (uint64_t)overrun : 1;
    return periods * jp_config.period_ns;
}

int jp_clock_timer_owns_sig(const struct jp_signal *signal)
{
    return signal->info->si_code == SI_TIMER &&
           jp_thread_is_value_sig((uint64_t)signal->info->si_value.sival_ptr);
}

struct jp_thread *jp_clock_timer_find_sig(const struct jp_signal *signal)
{
    return jp_thread_by_value_sig((uint64_t)signal->info->si_value.sival_ptr);
}
