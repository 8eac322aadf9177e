/* SPDX-License-Identifier: MIT
 *
 * Waiting for io_uring's completions by syscall(2).
 * Runs in: any thread, the program's handlers. */
#include "uring.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "hooks/base/retry.h"

/* The call's arguments: a[0] is its number, a[3] how many completions it waits
 * for, a[4] the flags, a[5] with EXTENDED a struct argument. */
#define FLAGS(a) ((unsigned long)(a)[4])

/* io_uring_enter(2), IORING_ENTER_...; not all are in each system's header.
 * With REGISTERED the argument is in memory that was registered before. */
#define GETEVENTS 0x01UL
#define EXTENDED 0x08UL
#define ABSOLUTE 0x20UL
#define REGISTERED 0x40UL

/* struct io_uring_getevents_arg of linux/io_uring.h. */
struct argument {
    uint64_t mask;
    uint32_t mask_size, least_us;
    uint64_t time; /* 0, or the address of a struct timespec */
};

int jp_uring_waits(const long a[7])
{
    return a[0] == SYS_io_uring_enter && a[3] > 0 &&
           (FLAGS(a) & (GETEVENTS | REGISTERED)) == GETEVENTS;
}

/* A call that has handed in something returns how much, and not EINTR; so what
 * is made again has changed nothing yet. */
long jp_uring_wait(jp_syscall_function *real, const long a[7])
{
    JP_RETRY(retry);
    struct argument argument = {0, 0, 0, 0};
    const int may = jp_retry_begin(&retry);
    const int64_t begun = may ? jp_retry_now() : 0;
    long result = real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    if (result >= 0 || errno != EINTR || !may)
        return result;
    /* The kernel has read the argument, so there is one to read. */
    if ((FLAGS(a) & (EXTENDED | ABSOLUTE)) == EXTENDED)
        argument = *(const struct argument *)a[5];
    int64_t deadline =
        jp_retry_deadline((const struct timespec *)(uintptr_t)argument.time);
    if (deadline != JP_NEVER)
        deadline -= jp_retry_now() - begun;
    long fifth = a[5];
    while (result < 0 && errno == EINTR && jp_retry_interrupted(&retry)) {
        const struct timespec left = jp_retry_left(deadline);
        if (deadline != JP_NEVER) {
            argument.time = (uintptr_t)&left;
            fifth = (long)&argument;
        }
        result = real(a[0], a[1], a[2], a[3], a[4], fifth, a[6]);
    }
    return result;
}
