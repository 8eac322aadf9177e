/* SPDX-License-Identifier: MIT
 *
 * What a thread has used of the CPU.
 * Runs in: handler. */
#include "used.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "sig/os/sys.h"
#include "sig/state/thread.h"

static uint64_t ns_sig(struct timeval time)
{
    return (uint64_t)time.tv_sec * JP_NS + (uint64_t)time.tv_usec * 1000;
}

/* (User and system time add up to what the clock says, but for a microsecond:
 * cputime_adjust, kernel/sched/cputime.c in Linux.) */
uint64_t jp_used_cpu_sig(void)
{
    struct rusage usage;
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    if (cpu != 0)
        return cpu;
    if (jp_sys_sig(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0) != 0)
        return JP_USED_UNKNOWN;
    return ns_sig(usage.ru_utime) + ns_sig(usage.ru_stime);
}

uint64_t jp_used_of_sig(uint32_t tid)
{
    const uint64_t cpu = jp_sys_clock_sig(jp_thread_clock_of_sig(tid));
    return cpu == 0 && jp_sys_gettid_sig() == tid
               ? jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID)
               : cpu;
}

uint64_t jp_used_unseen_sig(struct jp_thread *thread, uint64_t cpu_ns)
{
    const uint64_t seen =
        cpu_ns != 0 ? atomic_exchange(&thread->clock.seen_ns, cpu_ns) : 0;
    return cpu_ns > seen ? cpu_ns - seen : 0;
}

uint64_t jp_used_unsampled_sig(struct jp_thread *thread, uint64_t cpu_ns,
                               uint64_t least)
{
    const uint64_t before = thread->clock.cpu_ns;
    if (cpu_ns <= before || cpu_ns - before < least)
        return 0;
    thread->clock.cpu_ns = cpu_ns;
    return cpu_ns - before;
}
