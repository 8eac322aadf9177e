/* SPDX-License-Identifier: MIT
 *
 * Hooks of semaphores, message queues, aio_suspend and io_getevents.  A call
 * that only jprof's signal ended is made again as it was, with the time that is
 * left.
 * Runs in: any thread, the program's handlers. */
#include <aio.h>
#include <errno.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/os/sys.h"

JP_ALSO(sem_wait, JP_ARCH_GLIBC);
JP_HOOK(int, sem_wait, (sem_t * semaphore))
{
    JP_REAL(sem_wait)
    return JP_AGAIN(real(semaphore));
}

JP_ALSO(sem_timedwait, JP_ARCH_GLIBC);
JP_HOOK(int, sem_timedwait, (sem_t * semaphore, const struct timespec *until))
{
    JP_REAL(sem_timedwait)
    return JP_AGAIN(real(semaphore, until));
}

JP_ALSO(sem_clockwait, "GLIBC_2.30");
JP_HOOK(int, sem_clockwait,
        (sem_t * semaphore, clockid_t clock, const struct timespec *until))
{
    JP_REAL(sem_clockwait)
    return JP_AGAIN(real(semaphore, clock, until));
}

JP_HOOK(ssize_t, msgrcv,
        (int queue, void *message, size_t size, long type, int flags))
{
    JP_REAL(msgrcv)
    return JP_AGAIN(real(queue, message, size, type, flags));
}

JP_HOOK(int, msgsnd, (int queue, const void *message, size_t size, int flags))
{
    JP_REAL(msgsnd)
    return JP_AGAIN(real(queue, message, size, flags));
}

JP_HOOK(int, semop, (int set, struct sembuf *operations, size_t count))
{
    JP_REAL(semop)
    return JP_AGAIN(real(set, operations, count));
}

JP_HOOK(int, semtimedop,
        (int set, struct sembuf *operations, size_t count,
         const struct timespec *timeout))
{
    JP_REAL(semtimedop)
    return JP_AGAIN_WITHIN(timeout, real(set, operations, count, left));
}

JP_ALSO(aio_suspend, JP_ARCH_GLIBC);
JP_HOOK(int, aio_suspend,
        (const struct aiocb *const list[], int count,
         const struct timespec *timeout))
{
    JP_REAL(aio_suspend)
    return JP_AGAIN_WITHIN(timeout, real(list, count, left));
}

JP_ALSO(aio_suspend64, JP_ARCH_GLIBC);
JP_HOOK(int, aio_suspend64,
        (const struct aiocb64 *const list[], int count,
         const struct timespec *timeout))
{
    JP_REAL(aio_suspend64)
    return JP_AGAIN_WITHIN(timeout, real(list, count, left));
}

/* libaio's io_getevents, which returns -errno, by the system call: if the
 * program loaded libaio with dlopen, its function cannot be found from here. */
static int get_events(void *context, long least, long most, void *events,
                      struct timespec *timeout)
{
    return (int)jp_sys_sig(SYS_io_getevents, (long)context, least, most,
                           (long)events, (long)timeout);
}

/* What io_getevents does for a program. */
static int wait_for_events(void *context, long least, long most, void *events,
                           struct timespec *timeout)
{
    JP_RETRY(retry);
    const int may = jp_retry_begin(&retry);
    const int64_t deadline = may ? jp_retry_deadline(timeout) : JP_NEVER;
    int result = get_events(context, least, most, events, timeout);
    while (result == -EINTR && may && jp_retry_interrupted(&retry)) {
        struct timespec left = jp_retry_left(deadline);
        result = get_events(context, least, most, events,
                            deadline == JP_NEVER ? timeout : &left);
    }
    return result;
}

JP_HOOK_INSTEAD(int, io_getevents,
                (void *context, long least, long most, void *events,
                 struct timespec *timeout),
                get_events)
{
    return wait_for_events(context, least, most, events, timeout);
}

/* libaio's version of before 0.4 waits for one event (libaio,
 * src/compat-0_1.c). */
static int get_events_old(void *context, long most, void *events,
                          struct timespec *timeout)
{
    return get_events(context, 1, most, events, timeout);
}

JP_HOOK_OLD(int, io_getevents_old, io_getevents, "LIBAIO_0.1",
            (void *context, long most, void *events, struct timespec *timeout),
            get_events_old)
{
    return wait_for_events(context, 1, most, events, timeout);
}
