/* SPDX-License-Identifier: MIT
 *
 * The process's slow timer.
 * Runs in: handler, any thread. */
#include "process_timer.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "sig/timers/timer.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

/* The timer's value: among those of JP_CONTROL_MAGIC, but no command. */
#define VALUE (JP_CONTROL_MAGIC | 0xf0U)

static _Atomic int timer = -1;
static _Atomic uint32_t hastened;
static _Atomic uint32_t allowed; /* it could be made when it was last to be */

int jp_process_timer_run_sig(int on)
{
    const int before = atomic_exchange(&timer, -1);
    if (before >= 0)
        jp_sys_sig(SYS_timer_delete, before, 0, 0, 0, 0);
    if (!on)
        return 0;
    struct sigevent event = {.sigev_signo = jp_process.watching,
                             .sigev_notify = SIGEV_SIGNAL};
    event.sigev_value.sival_ptr = (void *)(uintptr_t)VALUE;
    int made =
        jp_clock_make_timer_sig(CLOCK_PROCESS_CPUTIME_ID, &event,
                                JP_PROCESS_TIMER_NS, JP_PROCESS_TIMER_NS);
    /* qemu-user keeps the last real-time signals for itself. */
    if (made == -EINVAL && event.sigev_signo != jp_process.signal) {
        event.sigev_signo = jp_process.signal;
        made =
            jp_clock_make_timer_sig(CLOCK_PROCESS_CPUTIME_ID, &event,
                                    JP_PROCESS_TIMER_NS, JP_PROCESS_TIMER_NS);
    }
    atomic_store(&allowed, made >= 0);
    if (made < 0)
        return made;
    atomic_store(&timer, made);
    return 0;
}

void jp_process_timer_change_sig(void)
{
    if (atomic_load(&timer) >= 0)
        jp_process_timer_run_sig(1);
}

int jp_process_timer_runs_sig(void)
{
    return atomic_load(&timer) >= 0;
}

int jp_process_timer_is_allowed_sig(void)
{
    return atomic_load(&allowed) != 0;
}

int jp_process_timer_is_sig(const siginfo_t *info)
{
    return (uintptr_t)info->si_value.sival_ptr == VALUE;
}

/* The kernel finds at a CPU's tick that the timer has run out, and gives the
 * signal to the thread that it finds there.  If the period were as long as a
 * tick, then of threads that run by turns or side by side some would never be
 * there when it is over.  So that each tick finds that it is, up to the tick's
 * rate the period is the shortest. */
void jp_process_timer_hasten_sig(void)
{
    const uint64_t period =
        jp_config.period_ns > jp_process.tick_ns ? jp_config.period_ns : 1;
    const int now = atomic_load(&timer);
    if (now < 0 || period >= JP_PROCESS_TIMER_NS ||
        !jp_process.clock->per_thread || atomic_exchange(&hastened, 1) != 0)
        return;
    jp_clock_set_timer_last_sig(now, period, period);
}

int jp_process_timer_is_hastened_sig(void)
{
    return atomic_load(&hastened) != 0;
}

void jp_process_timer_reset_sig(void)
{
    atomic_store(&timer, -1);
    atomic_store(&hastened, 0);
    atomic_store(&allowed, 0);
}
