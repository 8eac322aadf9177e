/* SPDX-License-Identifier: MIT
 *
 * Which call a thread has just come out of, how often it has left one, and what
 * it costs a waiting thread to come out of its call for a sample.
 * Runs in: handler. */
#include "left.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "sig/arch/arch.h"
#include "sig/os/sys.h"

uint64_t jp_left_switches_sig(uint64_t *held)
{
    struct rusage usage;
    *held = 0;
    if (jp_sys_sig(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0) != 0)
        return JP_LEFT_UNKNOWN;
    *held = (uint64_t)usage.ru_nivcsw;
    return (uint64_t)usage.ru_nvcsw;
}

/* futex(2) waits by some of its operations, and others take time to wake
 * threads up. */
static int is_futex_wait_sig(long operation)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
        return 1;
    default:
        return 0;
    }
}

/* (Not poll and select, which may take long to look at many descriptors.) */
int jp_left_wait_sig(const ucontext_t *context)
{
    switch (jp_arch_left_sig(context)) {
    case SYS_futex:
        return is_futex_wait_sig(jp_arch_second_sig(context));
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
#ifdef SYS_futex_waitv
    case SYS_futex_waitv:
#endif
#ifdef SYS_futex_wait /* Linux 6.7 */
    case SYS_futex_wait:
#endif
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return 1;
    default:
        return 0;
    }
}

/* (Of the calls that a handler with SA_RESTART has made again, signal(7),
 * openat is left out, which waits for FIFOs and servers only.  The last ones
 * never wait, and threads that compute make them so often that some are found
 * before one.) */
int jp_left_rare_sig(long call)
{
    static const int others[] = {
        SYS_futex,           SYS_read,           SYS_readv,
        SYS_write,           SYS_writev,         SYS_pread64,
        SYS_pwrite64,        SYS_preadv,         SYS_pwritev,
        SYS_ioctl,           SYS_fcntl,          SYS_flock,
        SYS_wait4,           SYS_waitid,         SYS_accept,
        SYS_accept4,         SYS_connect,        SYS_recvfrom,
        SYS_recvmsg,         SYS_recvmmsg,       SYS_sendto,
        SYS_sendmsg,         SYS_sendmmsg,       SYS_mq_timedreceive,
        SYS_mq_timedsend,    SYS_splice,         SYS_sendfile,
        SYS_copy_file_range, SYS_io_uring_enter, SYS_restart_syscall,
        SYS_preadv2,         SYS_pwritev2,       SYS_tee,
        SYS_vmsplice,        SYS_clock_gettime,  SYS_gettimeofday,
        SYS_sched_yield,     SYS_getrusage,
#ifdef SYS_futex_waitv
        SYS_futex_waitv,
#endif
#ifdef SYS_futex_wait
        SYS_futex_wait,
#endif
    };
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (call == others[i])
            return 0;
    }
    return call >= 0;
}

/* (A thread that is about to make such a call for the first time looks as if it
 * waited there: only one that has been seen to do so tells.) */
int jp_left_supervised_sig(long call, int proven)
{
    static _Atomic long known = -1;
    if (!jp_left_rare_sig(call))
        return 0;
    if (proven)
        atomic_store(&known, call);
    return atomic_load(&known) == call;
}

static _Atomic uint64_t cost_ns;

void jp_left_learn_sig(uint64_t used_ns)
{
    atomic_store_explicit(&cost_ns,
                          jp_left_learned_sig(jp_left_cost_sig(), used_ns),
                          memory_order_relaxed);
}

uint64_t jp_left_cost_sig(void)
{
    return atomic_load_explicit(&cost_ns, memory_order_relaxed);
}
