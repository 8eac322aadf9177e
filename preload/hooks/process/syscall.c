/* SPDX-License-Identifier: MIT
 *
 * The hook of syscall(2): a bare system call whose C library function has a
 * hook is handled as that hook does.
 * Runs in: any thread, the program's handlers. */
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "clones.h"
#include "code.h"
#include "exec.h"
#include "hooks/base/real.h"
#include "hooks/calls/futex.h"
#include "hooks/calls/uring.h"
#include "hooks/signals/dispositions.h"
#include "sandbox.h"
#include "target.h"

/* Whether a system call is that of a function which sandbox.c hooks. */
static int is_sandboxing(long number)
{
    static const int numbers[] = {
        SYS_chroot,    SYS_pivot_root, SYS_setuid, SYS_setreuid,
        SYS_setresuid, SYS_setfsuid,   SYS_setns,  SYS_landlock_restrict_self};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (number == numbers[i])
            return 1;
    }
    return 0;
}

/* Whether a system call installs seccomp's strict mode (1) or a filter (2); 0:
 * neither, or the kernel will not accept it. */
static int installs(const long a[7])
{
    if (a[0] == SYS_prctl && a[1] == PR_SET_SECCOMP)
        return a[2] == SECCOMP_MODE_STRICT   ? 1
               : a[2] == SECCOMP_MODE_FILTER ? 2
                                             : 0;
    if (a[0] != SYS_seccomp)
        return 0;
    if (a[1] == SECCOMP_SET_MODE_FILTER)
        return 2;
    return a[1] == SECCOMP_SET_MODE_STRICT && a[2] == 0 && a[3] == 0;
}

/* Whether the call has installed the filter.  With SECCOMP_FILTER_FLAG_TSYNC, a
 * positive result is the id of a thread that could not get it, and nothing was
 * installed. */
static int is_installed(const long a[7], long result)
{
    const int descriptor =
        a[0] == SYS_seccomp && (a[2] & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
    return result == 0 || (result > 0 && descriptor);
}

static long filtered(jp_syscall_function *real, const long a[7], int strict)
{
    const struct jp_sandbox_filter expected =
        jp_sandbox_expect(strict, (uint64_t)a[3]);
    const long result = real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    jp_sandbox_settle(&expected, is_installed(a, result));
    return result;
}

static long executed(jp_syscall_function *real, const long a[7])
{
    const int at = a[0] == SYS_execveat;
    struct jp_target target = {
        (const char *)a[at + 1], (char *const *)a[at + 2],
        (char *const *)a[at + 3], at ? (int)a[1] : AT_FDCWD, 0};
    JP_TARGET_PRELOAD(&target);
    const long envp = (long)target.envp;
    jp_target_tell(&target);
    const int stopped = jp_exec_before(&target);
    return jp_exec_failed(stopped, real(a[0], a[1], a[2], at ? a[3] : envp,
                                        at ? envp : a[4], a[5], a[6]));
}

/* All six arguments are handed on, also those that the call does not have. */
JP_HOOK(long, syscall,
        (long number, long a, long b, long c, long d, long e, long f))
{
    JP_REAL(syscall)
    const long all[7] = {number, a, b, c, d, e, f};
    const int what = installs(all);
    if (what != 0)
        return filtered(real, all, what == 1);
    if (number == SYS_prctl &&
        (a == PR_SET_SYSCALL_USER_DISPATCH || a == PR_SET_TSC))
        return prctl((int)a, b, c, d, e);
    if (jp_clones_is_fork(number, a))
        return jp_clones_fork(real, all);
    if (number == SYS_execve || number == SYS_execveat)
        return executed(real, all);
    if (number == SYS_unshare)
        jp_sandbox_unshare((int)a);
    else if (is_sandboxing(number))
        jp_sandbox_before();
    if (number == SYS_rt_sigaction)
        return jp_dispositions_syscall(real, all);
    if (jp_code_is_change(all))
        return jp_code_syscall(real, all);
    if (jp_futex_waits(all))
        return jp_futex_wait(real, all);
    if (jp_uring_waits(all))
        return jp_uring_wait(real, all);
    return real(number, a, b, c, d, e, f);
}
