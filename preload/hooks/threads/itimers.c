/* SPDX-License-Identifier: MIT
 *
 * Hooks of the program's own timers.  The signal that a timer sends becomes the
 * program's, and jprof's own interval timer is hidden from it.
 * Runs in: any thread. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/signals/signals.h"
#include "notify.h"
#include "sig/os/sys.h"
#include "sig/owned_signals.h"
#include "sig/state/process.h"

/* The signals of the interval timers. */
static const int signals[] = {[ITIMER_REAL] = SIGALRM,
                              [ITIMER_VIRTUAL] = SIGVTALRM,
                              [ITIMER_PROF] = SIGPROF};

#define TIMERS (sizeof(signals) / sizeof(signals[0]))

/* Whether an interval timer is jprof's clock, so that the program has set none
 * of that kind. */
static int is_clock(__itimer_which_t which)
{
    return (unsigned)which < TIMERS &&
           jp_process.clock->itimer_signal == signals[which] &&
           (atomic_load(&jp_owned.ours) & JP_SIGSET(signals[which])) != 0 &&
           !jp_local_is_vfork_child();
}

JP_HOOK(unsigned, alarm, (unsigned seconds))
{
    JP_REAL(alarm)
    if (seconds != 0)
        jp_signals_use(JP_SIGSET(SIGALRM));
    else if (is_clock(ITIMER_REAL))
        return 0;
    return real(seconds);
}

JP_HOOK(useconds_t, ualarm, (useconds_t value, useconds_t interval))
{
    JP_REAL(ualarm)
    if (value != 0)
        jp_signals_use(JP_SIGSET(SIGALRM));
    else if (is_clock(ITIMER_REAL))
        return 0;
    return real(value, interval);
}

static int is_time(const struct timeval *time)
{
    return time->tv_sec >= 0 && time->tv_usec >= 0 && time->tv_usec < 1000000;
}

JP_HOOK(int, getitimer, (__itimer_which_t which, struct itimerval *value))
{
    JP_REAL(getitimer)
    const int result = real(which, value);
    if (result == 0 && is_clock(which))
        *value = (struct itimerval){{0, 0}, {0, 0}};
    return result;
}

JP_HOOK(int, setitimer,
        (__itimer_which_t which, const struct itimerval *value,
         struct itimerval *old))
{
    JP_REAL(setitimer)
    const int had_none = is_clock(which);
    /* Linux takes NULL for a timer of zeros, setitimer(2). */
    const int sets = value != NULL && (value->it_value.tv_sec != 0 ||
                                       value->it_value.tv_usec != 0);
    if (sets && (unsigned)which < TIMERS)
        jp_signals_use(JP_SIGSET(signals[which]));
    /* An invalid time is left to the kernel, which refuses it. */
    const int leaves =
        had_none && !sets && (value == NULL || is_time(&value->it_interval));
    const int result = leaves ? 0 : real(which, value, old);
    if (result == 0 && had_none && old != NULL)
        *old = (struct itimerval){{0, 0}, {0, 0}};
    return result;
}

/* Leaves the signal of a timer that the program makes to the program.  Returns
 * the event to make the timer with: `event` or *ours. */
static struct sigevent *leave_signal(struct sigevent *event,
                                     struct sigevent *ours)
{
    /* Without an event, the timer sends SIGALRM, timer_create(2). */
    if (event == NULL) {
        jp_signals_use(JP_SIGSET(SIGALRM));
        return NULL;
    }
    if ((event->sigev_notify == SIGEV_SIGNAL ||
         event->sigev_notify == SIGEV_THREAD_ID) &&
        event->sigev_signo > 0 && event->sigev_signo <= 64)
        jp_signals_use(JP_SIGSET(event->sigev_signo));
    return jp_notify_event(event, ours);
}

#if JP_ARCH_OLDER
JP_ALSO(timer_create, "GLIBC_2.3.3");
#else
JP_ALSO(timer_create, JP_ARCH_GLIBC);
#endif
JP_HOOK(int, timer_create,
        (clockid_t clock, struct sigevent *event, timer_t *timer))
{
    JP_REAL(timer_create)
    struct sigevent ours;
    return real(clock, leave_signal(event, &ours), timer);
}

#if JP_ARCH_OLDER
/* Before glibc 2.3.3 a timer_t was an int (glibc,
 * sysdeps/unix/sysv/linux/compat-timer.h). */
JP_HOOK_OLD(int, timer_create_old, timer_create, JP_ARCH_GLIBC,
            (clockid_t clock, struct sigevent *event, int *timer), NULL)
{
    JP_REAL(timer_create_old)
    struct sigevent ours;
    return real(clock, leave_signal(event, &ours), timer);
}
#endif
