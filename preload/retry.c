/* SPDX-License-Identifier: MIT
 *
 * Calls that a signal ends early.
 * Runs in: any thread, the program's handlers. */
#include "retry.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "real.h"
#include "sig/arch/arch.h"
#include "sig/own.h"
#include "sig/process.h"
#include "sig/sys.h"

#define OTHERS_NS 100000000U /* that a thread may be kept from running */

typedef int ppoll_function(struct pollfd *, nfds_t, const struct timespec *,
                           const sigset_t *);

int jp_retry_begin(struct jp_retry *retry)
{
    retry->slot = jp_local_slot();
    if (retry->slot == NULL)
        return 0;
    retry->runs = atomic_load_explicit(&retry->slot->runs,
                                       memory_order_relaxed);
    retry->shared = atomic_load_explicit(&jp_process.shared,
                                         memory_order_relaxed);
    retry->theirs = jp_local.theirs;
    return 1;
}

int jp_retry_ours(struct jp_retry *retry)
{
    const uint32_t runs = atomic_load(&retry->slot->runs);
    const uint32_t shared = atomic_load(&jp_process.shared);
    const int ours = (runs != retry->runs || shared != retry->shared) &&
                     jp_retry_undisturbed(retry);
    retry->runs = runs;
    retry->shared = shared;
    return ours;
}

/* A signal to the process may have woken this thread, and the one that handles
 * it not have come to say so. */
static void await_others(const struct jp_retry *retry)
{
    const uint64_t begin = jp_sys_clock_sig(CLOCK_MONOTONIC);
    while (atomic_load(&jp_process.shared) == retry->shared &&
           jp_retry_undisturbed(retry) &&
           jp_sys_clock_sig(CLOCK_MONOTONIC) - begin < OTHERS_NS)
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
}

int jp_retry_interrupted(struct jp_retry *retry)
{
    if (jp_retry_ours(retry))
        return 1;
    if (jp_slots_taken_sig() < 2 || !jp_retry_undisturbed(retry))
        return 0;
    await_others(retry);
    return jp_retry_ours(retry);
}

int jp_retry_undisturbed(const struct jp_retry *retry)
{
    return jp_local.theirs == retry->theirs;
}

/* Of the signals in the thread's way, not those of jprof's, those that do
 * nothing, and glibc's (cancellation and setxid, nptl(7)). */
int jp_retry_seal(const struct jp_retry *retry, uint64_t *before)
{
    jp_sys_sigmask_sig(SIG_BLOCK,
                       ~(atomic_load(&jp_own.unblocked) |
                         atomic_load(&jp_own.ignored) | JP_SIGNALS_LIBC),
                       before);
    if (jp_retry_undisturbed(retry))
        return 1;
    jp_sys_sigmask_sig(SIG_SETMASK, *before, NULL);
    return 0;
}

void jp_retry_unseal(void *before)
{
    jp_sys_sigmask_sig(SIG_SETMASK, *(uint64_t *)before, NULL);
}

int jp_retry_poll(struct jp_retry *retry, struct pollfd *fds, nfds_t count,
                  int64_t deadline)
{
    JP_REAL(ppoll_function, ppoll)
    for (;;) {
        uint64_t before;
        sigset_t mask;
        if (!jp_retry_seal(retry, &before))
            return -EINTR;
        sigemptyset(&mask);
        jp_local_get(&mask, before);
        const struct timespec left = jp_retry_left(deadline);
        int result, error;
        pthread_cleanup_push(jp_retry_unseal, &before);
        result = real(fds, count, &left, &mask);
        error = errno;
        pthread_cleanup_pop(1);
        if (result >= 0)
            return result;
        if (error != EINTR || !jp_retry_interrupted(retry))
            return -error;
    }
}

/* Whether a call of futex waits; those that lock are made again always, and
 * whoever makes them does not expect EINTR. */
static int is_futex_wait(long operation)
{
    operation &= FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* System calls that any handler ends, but for SA_RESTART (signal(7)); others
 * are made again in any case. */
static int is_interruptible(long number, long second)
{
    static const int numbers[] = {
#ifdef SYS_open
        SYS_open,
#endif
        SYS_read,       SYS_readv,          SYS_write,        SYS_writev,
        SYS_pread64,    SYS_pwrite64,       SYS_preadv,       SYS_pwritev,
        SYS_openat,     SYS_openat2,        SYS_ioctl,        SYS_fcntl,
        SYS_flock,      SYS_wait4,        SYS_waitid,
        SYS_accept,     SYS_accept4,        SYS_connect,      SYS_recvfrom,
        SYS_recvmsg,    SYS_recvmmsg,       SYS_sendto,       SYS_sendmsg,
        SYS_sendmmsg,   SYS_mq_timedreceive, SYS_mq_timedsend, SYS_getrandom,
        SYS_splice,     SYS_sendfile,       SYS_copy_file_range};
    if (number == SYS_futex)
        return is_futex_wait(second);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (number == numbers[i])
            return 1;
    }
    return 0;
}

/* Whether jprof's handler returned to where the program's was called.  The last
 * time, or the time before: another of jprof's signals may have come since, at
 * the first instruction of the program's handler. */
static int returned_to(const struct jp_slot *slot, const ucontext_t *context)
{
    for (int i = 0; i < 2; i++) {
        if (slot->resumed[i].pc == jp_arch_pc_sig(context) &&
            slot->resumed[i].sp == jp_arch_sp_sig(context))
            return 1;
    }
    return 0;
}

/* Nothing ran in the thread since jprof's handler returned: the program's
 * signal came while that ran, and so while the thread was in the call. */
void jp_retry_cut_off(ucontext_t *context)
{
    const struct jp_slot *slot = jp_local.slot;
    if (slot == NULL || slot->generation != jp_local.generation)
        slot = jp_slot_by_tid_sig(jp_sys_gettid_sig());
    if (slot != NULL && returned_to(slot, context) &&
        is_interruptible(jp_arch_call_sig(context),
                         jp_arch_second_sig(context)))
        jp_arch_skip_call_sig(context, -EINTR);
}

int64_t jp_retry_now(void)
{
    return (int64_t)jp_sys_clock_sig(CLOCK_MONOTONIC);
}

int64_t jp_retry_deadline(const struct timespec *wait)
{
    const int64_t longest = JP_NEVER / 4;
    if (wait == NULL || wait->tv_sec < 0 ||
        wait->tv_sec > longest / (int64_t)JP_NS)
        return JP_NEVER;
    return jp_retry_now() + wait->tv_sec * (int64_t)JP_NS + wait->tv_nsec;
}

struct timespec jp_retry_left(int64_t deadline)
{
    const int64_t now = jp_retry_now();
    const int64_t left = deadline > now ? deadline - now : 0;
    return (struct timespec){(time_t)(left / (int64_t)JP_NS),
                             (long)(left % (int64_t)JP_NS)};
}
