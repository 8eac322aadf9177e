/* SPDX-License-Identifier: MIT
 *
 * The clock kind of JP_RTC_HZ.
 * Runs in: handler, any thread. */
#include "rtc.h"

#include <errno.h>
#include <linux/rtc.h>
#include <sys/syscall.h>

#include "sig/wall/clock_real.h"
#include "jp_log.h"
#include "sig/os/sys.h"
#include "sig/state/budget.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

static int device = -1;

static struct jp_budget budget;
static _Atomic uint32_t taken;
static _Atomic uint64_t period_ns; /* at which the device runs */

static long ioctl_sig(unsigned long request, unsigned long argument)
{
    return jp_sys_sig(SYS_ioctl, device, (long)request, (long)argument, 0, 0);
}

static long fcntl_sig(int command, long argument)
{
    return jp_sys_sig(SYS_fcntl, device, command, argument, 0, 0);
}

static void close_sig(void)
{
    if (device >= 0)
        jp_sys_close_sig(device);
    device = -1;
}

int jp_rtc_open_sig(void)
{
    device = jp_sys_open_sig("/dev/rtc", O_RDONLY | O_NONBLOCK, 0);
    if (device < 0) {
        int error = device;
        device = -1;
        return error;
    }
    long error = ioctl_sig(RTC_IRQP_SET, jp_config.rtc_hz);
    if (error == 0)
        error = fcntl_sig(F_SETOWN, jp_owner->pid);
    /* With F_SETSIG the signal says which descriptor it is about. */
    if (error == 0)
        error = fcntl_sig(F_SETSIG, SIGIO);
    if (error == 0)
        error = fcntl_sig(F_SETFL, O_NONBLOCK | O_ASYNC);
    atomic_store(&period_ns, 0);
    if (error != 0)
        close_sig();
    return (int)error;
}

static void begin_sig(void)
{
    atomic_store(&taken, 0);
    if (atomic_load(&period_ns) != 0)
        return;
    jp_budget_begin_sig(&budget);
    budget.period_ns = jp_config.period_ns;
    atomic_store(&period_ns, jp_config.period_ns);
}

static int run_sig(int on)
{
    if (device >= 0 && on)
        begin_sig();
    if (device >= 0 && ioctl_sig(on ? RTC_PIE_ON : RTC_PIE_OFF, 0) != 0 && on)
        jp_count_sig(JP_COUNT_NO_TIMER, 1);
    return 0;
}

int jp_rtc_is_open_sig(void)
{
    return device >= 0;
}

static int owns_sig(const struct jp_signal *signal)
{
    return device >= 0 && signal->number == SIGIO &&
           signal->info->si_code > 0 && signal->info->si_fd == device;
}

static struct jp_budget *take_sig(void)
{
    return atomic_exchange(&taken, 1) == 0 ? &budget : NULL;
}

/* Sets the device to the highest power of two whose period is as long as the
 * budget's. */
static void give_sig(int changed)
{
    unsigned long hz = jp_config.rtc_hz;
    while (hz > JP_RTC_HZ_MIN && JP_NS / hz < budget.period_ns)
        hz /= 2;
    if (changed && ioctl_sig(RTC_IRQP_SET, hz) == 0)
        atomic_store(&period_ns,
                     hz == jp_config.rtc_hz ? jp_config.period_ns : JP_NS / hz);
    atomic_store(&taken, 0);
}

/* The time that the interrupts since the last call stand for; that of one
 * interrupt at least. */
static uint64_t weight_sig(void)
{
    unsigned long data = 0;
    const uint64_t period = atomic_load(&period_ns);
    if (jp_sys_read_sig(device, &data, sizeof(data)) != sizeof(data))
        return period;
    /* The low byte says what kind of interrupt, the rest how many. */
    return data >> 8 > 0 ? (data >> 8) * period : period;
}

/* A thread that used less than half of the signal's time since its last sample
 * counts as blocked. */
static enum jp_observed observe_sig(struct jp_pass *pass)
{
    struct jp_thread *thread = pass->thread;
    struct jp_due *due = &pass->due;
    const uint64_t weight = weight_sig();
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t used = cpu - thread->clock.cpu_ns;
    thread->clock.cpu_ns = cpu;
    *(used * 2 >= weight ? &due->running : &due->blocked) = weight;
    return JP_OBSERVED_DUE;
}

static int sends_sig(int signal)
{
    return signal == SIGIO;
}

static void give_up_sig(void)
{
    run_sig(0);
    close_sig();
}

static void forked_sig(void)
{
    close_sig();
    jp_rtc_open_sig();
}

const struct jp_clock_kind jp_clock_rtc = {
    .id = JP_CLOCK_RTC,
    .interrupts = 1,
    .outlives_exec = 1,
    .sends = sends_sig,
    .give_up = give_up_sig,
    .then = &jp_clock_real,
    .owns = owns_sig,
    .observe = observe_sig,
    .run = run_sig,
    .take = take_sig,
    .give = give_sig,
    .forked = forked_sig,
};
