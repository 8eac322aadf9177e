/* SPDX-License-Identifier: MIT
 *
 * Which system calls SA_RESTART makes again.
 * Runs in: handler, the program's handlers. */
#include "restart.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "sig/arch/arch.h"

/* Whether a futex operation waits.  Those that lock are always made again by
 * the kernel, and their callers do not expect EINTR. */
static int is_futex_wait_sig(long operation)
{
    operation &= FUTEX_CMD_MASK;
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

int jp_restart_by_flag_sig(long number, long second)
{
    static const int numbers[] = {JP_ARCH_MORE_CALLS SYS_read,
                                  SYS_readv,
                                  SYS_write,
                                  SYS_writev,
                                  SYS_pread64,
                                  SYS_pwrite64,
                                  SYS_preadv,
                                  SYS_pwritev,
                                  SYS_openat,
                                  SYS_openat2,
                                  SYS_ioctl,
                                  SYS_fcntl,
                                  SYS_flock,
                                  SYS_wait4,
                                  SYS_waitid,
                                  SYS_accept,
                                  SYS_accept4,
                                  SYS_connect,
                                  SYS_recvfrom,
                                  SYS_recvmsg,
                                  SYS_recvmmsg,
                                  SYS_sendto,
                                  SYS_sendmsg,
                                  SYS_sendmmsg,
                                  SYS_mq_timedreceive,
                                  SYS_mq_timedsend,
                                  SYS_getrandom,
                                  SYS_splice,
                                  SYS_sendfile,
                                  SYS_copy_file_range};
    if (number == SYS_futex)
        return is_futex_wait_sig(second);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (number == numbers[i])
            return 1;
    }
    return 0;
}
