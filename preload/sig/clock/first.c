/* SPDX-License-Identifier: MIT
 *
 * The timer that starts a profile after some time (JP_FIRST).
 * Runs in: handler, any thread. */
#include "first.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "jp_log.h"
#include "refusal.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/timers/timer.h"

static int first_timer = -1;

/* Makes JP_FIRST's timer, which runs out in `after` ns. */
static void set_first_sig(uint64_t after)
{
    struct sigevent event = {.sigev_signo = jp_process.signal,
                             .sigev_notify = SIGEV_SIGNAL};
    event.sigev_value.sival_ptr =
        (void *)(uintptr_t)(JP_CONTROL_MAGIC | JP_CONTROL_START);
    atomic_store(&jp_process.first_pending, 1);
    first_timer = jp_clock_make_timer_sig(
        jp_process.clock->cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
        &event, after, 0);
    if (first_timer >= 0)
        return;
    jp_count_sig(JP_COUNT_NO_TIMER, 1);
    jp_clock_complain_sig(-first_timer);
}

void jp_clock_first_sig(void)
{
    set_first_sig(jp_config.first_ns);
}

/* Makes JP_FIRST's timer anew, with the time that is left and the new
 * signal. */
void jp_first_move_sig(void)
{
    struct itimerspec left;
    if (first_timer < 0 || !atomic_load(&jp_process.first_pending) ||
        jp_sys_sig(SYS_timer_gettime, first_timer, (long)&left, 0, 0, 0) != 0)
        return;
    uint64_t after = (uint64_t)left.it_value.tv_sec * JP_NS +
                     (uint64_t)left.it_value.tv_nsec;
    jp_sys_sig(SYS_timer_delete, first_timer, 0, 0, 0, 0);
    set_first_sig(after != 0 ? after : 1);
}
