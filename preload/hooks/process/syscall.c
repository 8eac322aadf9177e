/* SPDX-License-Identifier: MIT
 *
 * Bare system calls by syscall(2): each that a hook would see under its own
 * name goes the hook's way.
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
#include "hooks/signals/dispositions.h"
#include "sandbox.h"
#include "target.h"

/* The bare system calls of what sandbox.c hooks by name. */
static int is_sandboxing(long number)
{
    static const int numbers[] = {
        SYS_chroot,   SYS_pivot_root, SYS_setuid,
        SYS_setreuid, SYS_setresuid,  SYS_setfsuid,
        SYS_unshare,  SYS_setns,      SYS_landlock_restrict_self};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (number == numbers[i])
            return 1;
    }
    return 0;
}

/* seccomp(2) and prctl(2) by syscall: 1 the strict mode, 2 a filter, 0 neither,
 * or nothing that the kernel takes. */
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

/* A filter for all threads is not installed where the answer is one that had
 * to stay without (SECCOMP_FILTER_FLAG_TSYNC). */
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
    const struct jp_target target = {
        (const char *)a[at + 1], (char *const *)a[at + 2],
        (char *const *)a[at + 3], at ? (int)a[1] : AT_FDCWD, 0};
    jp_target_tell(&target);
    const int stopped = jp_exec_before();
    return jp_exec_failed(stopped,
                          real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]));
}

/* All six arguments are handed on, whatever they are. */
JP_HOOK(long, syscall,
        (long number, long a, long b, long c, long d, long e, long f))
{
    JP_REAL(jp_syscall_function, syscall)
    const long all[7] = {number, a, b, c, d, e, f};
    const int what = installs(all);
    if (what != 0)
        return filtered(real, all, what == 1);
    if (jp_clones_is_fork(number, a))
        return jp_clones_fork(real, all);
    if (number == SYS_execve || number == SYS_execveat)
        return executed(real, all);
    if (is_sandboxing(number))
        jp_sandbox_before();
    if (number == SYS_rt_sigaction)
        return jp_dispositions_syscall(real, all);
    if (jp_code_is_change(all))
        return jp_code_syscall(real, all);
    return real(number, a, b, c, d, e, f);
}
