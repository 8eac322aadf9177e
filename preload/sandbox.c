/* SPDX-License-Identifier: MIT
 *
 * What takes the files out of reach or forbids system calls: seccomp filters,
 * chroot, another user, other namespaces.  Before it, what a report needs is
 * written and a reserve of the log is mapped.
 * Runs in: any thread, not in a handler. */
#include "sandbox.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clones.h"
#include "code.h"
#include "dispositions.h"
#include "exec.h"
#include "jp_limits.h"
#include "local.h"
#include "real.h"
#include "sandbox.h"
#include "sig/adopt.h"
#include "sig/clock.h"
#include "sig/control.h"
#include "sig/filter.h"
#include "sig/own.h"
#include "sig/process.h"
#include "sig/slot.h"
#include "sig/sys.h"
#include "sig/usage.h"
#include "signals.h"
#include "target.h"

#define CLOCK_ROUNDS 12
#define CLOCK_CALLS 8
#define HANDLER_YIELDS 1000
#define LAST_SIGNAL 64

/* The shortest time of CLOCK_ROUNDS that CLOCK_CALLS looks at the clock take,
 * and as many of the shortest system call. */
static void time_calls(uint64_t *clock, uint64_t *kernel)
{
    *clock = *kernel = UINT64_MAX;
    for (int round = 0; round < CLOCK_ROUNDS; round++) {
        const uint64_t start = jp_sys_clock_sig(CLOCK_MONOTONIC);
        for (int i = 0; i < CLOCK_CALLS; i++)
            jp_sys_clock_sig(CLOCK_MONOTONIC);
        const uint64_t middle = jp_sys_clock_sig(CLOCK_MONOTONIC);
        for (int i = 0; i < CLOCK_CALLS; i++)
            jp_sys_getppid_sig();
        const uint64_t end = jp_sys_clock_sig(CLOCK_MONOTONIC);
        if (middle - start < *clock)
            *clock = middle - start;
        if (end - middle < *kernel)
            *kernel = end - middle;
    }
}

/* Whether the vdso tells the time without asking the kernel, which depends on
 * the clock source.  Where it asks, it takes longer than the shortest system
 * call by all that the clock costs.  Both are timed, as what names the clock
 * source, /sys, is not in every container. */
static int time_is_direct(void)
{
    uint64_t clock, kernel;
    time_calls(&clock, &kernel);
    return clock * 5 < kernel * 4;
}

/* 1: yes, -1: no; asked before there is a filter. */
static int time_known;

void jp_sandbox_brace(void)
{
    const int error = errno;
    if (!jp_local_is_borrowed()) {
        uint64_t mask = jp_sys_block_sig();
        if (time_known == 0)
            time_known = time_is_direct() ? 1 : -1;
        jp_control_brace_sig();
        jp_sys_unblock_sig(mask);
    }
    errno = error;
}

/* Programs that are executed behind the filter get it too, and nobody knows it
 * there: where it forbids what profiling begins with, they are not profiled. */
static void hand_down(void)
{
    static const int needed[] = {
        SYS_timer_create, SYS_timer_delete, SYS_timer_settime, SYS_openat,
        SYS_newfstatat, SYS_getdents64, SYS_readlinkat, SYS_unlinkat,
        SYS_fallocate, SYS_pwrite64, SYS_pread64, SYS_mmap, SYS_munmap,
        SYS_madvise, SYS_ioctl, SYS_fcntl, SYS_flock, SYS_prlimit64,
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sigaltstack, SYS_tgkill,
        SYS_getpid, SYS_getppid, SYS_gettid, SYS_geteuid, SYS_futex,
        SYS_clock_gettime, SYS_sched_yield, SYS_linkat, SYS_sendfile,
        SYS_process_vm_readv, SYS_perf_event_open, SYS_ftruncate,
        SYS_rt_sigreturn};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        char *flags = getenv(JP_ENV_FLAGS);
        if (flags != NULL && jp_filter_number_sig(needed[i]) != 0)
            flags[0] = '\0';
    }
}

/* No handler of another thread may be on its way into a system call that it
 * asked the filters about before they were known. */
static void await_handlers(void)
{
    uint32_t count = jp_slots_count_sig();
    for (uint32_t i = 0; i < count; i++) {
        for (int n = 0; n < HANDLER_YIELDS; n++) {
            if (atomic_load(&jp_slot_at_sig(i)->busy) == 0)
                break;
            sched_yield();
        }
    }
}

/* What was done before a call that may install a filter. */
struct expected {
    struct jp_filter *filter; /* NULL: none, or it is not known */
    int stopped;              /* the profile, as it could not go on behind it */
};

static void stop(struct expected *expected)
{
    expected->stopped = atomic_load(&jp_process.running) != 0;
    jp_usage_off_sig(JP_OFF_FILTER);
    jp_control_off_sig();
}

/* Where no handler could return any more, none must begin: what is pending of
 * the clock's in a thread that is in the kernel just now goes away when the
 * signal is ignored for a moment (signal(7)). */
static void forget_pending(void)
{
    const uint64_t clocks = atomic_load(&jp_own.unblocked);
    for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
        /* The kernel's: the handler, flags, restorer, mask. */
        uint64_t ours[4], ignored[4] = {(uint64_t)SIG_IGN, 0, 0, 0};
        if ((clocks & JP_SIGSET(signal)) == 0 ||
            jp_sys_sig(SYS_rt_sigaction, signal, 0, (long)ours,
                       sizeof(uint64_t), 0) != 0)
            continue;
        jp_sys_sig(SYS_rt_sigaction, signal, (long)ignored, 0,
                   sizeof(uint64_t), 0);
        jp_sys_sig(SYS_rt_sigaction, signal, (long)ours, 0, sizeof(uint64_t),
                   0);
    }
}

/* Makes a filter known.  One that forbids the return from handlers, as sshd's
 * does, ends the profile first. */
static void add_filter(struct expected *expected, const struct sock_fprog *code)
{
    expected->filter = jp_filter_add_sig((uint64_t)code->filter, code->len);
    if (expected->filter == NULL || expected->stopped ||
        jp_filter_number_sig(SYS_rt_sigreturn) == 0)
        return;
    jp_filter_drop_sig(expected->filter);
    stop(expected);
    await_handlers();
    forget_pending();
    expected->filter = jp_filter_add_sig((uint64_t)code->filter, code->len);
}

/* Reads the program that `address` leads to.  Returns 1, 0 where the kernel
 * will not take it (programs ask so whether there are filters at all), -1
 * where only the kernel can read it. */
static int read_program(uint64_t address, struct sock_fprog *code)
{
    struct sock_filter last = {0, 0, 0, 0};
    long got = jp_sys_peek_sig(address, code, sizeof(*code));
    if (got == (long)sizeof(*code)) {
        if (code->len == 0 || code->len > BPF_MAXINSNS)
            return 0;
        got = jp_sys_peek_sig((uint64_t)(code->filter + code->len - 1), &last,
                              sizeof(last));
        if (got == (long)sizeof(last))
            return 1;
    }
    return got == -EPERM || got == -ENOSYS || got == -EACCES ? -1 : 0;
}

/* Gets ready for the filter at `address`; 0: for the strict mode. */
static struct expected expect(int strict, uint64_t address)
{
    struct expected expected = {NULL, 0};
    struct sock_fprog code = {0};
    if (jp_local_is_borrowed())
        return expected;
    const int error = errno;
    const int known = strict ? 1 : read_program(address, &code);
    if (known != 0) {
        jp_sandbox_brace();
        /* The strict mode takes the time stamp counter away as well. */
        if (time_known != 1 || strict || known < 0)
            stop(&expected);
        if (strict)
            expected.filter = jp_filter_strict_sig();
        else if (known > 0)
            add_filter(&expected, &code);
        if (expected.filter != NULL &&
            jp_filter_number_sig(SYS_timer_create) != 0)
            jp_adopt_hasten_sig();
        if (expected.filter != NULL)
            await_handlers();
        else if (!expected.stopped)
            stop(&expected);
    }
    errno = error;
    return expected;
}

/* After the call: where nothing was installed, all is as it was. */
static void settle(const struct expected *expected, int installed)
{
    const int error = errno;
    if (!installed) {
        if (expected->filter != NULL)
            jp_filter_drop_sig(expected->filter);
        if (expected->stopped) {
            jp_usage_off_sig(JP_OFF_NONE);
            jp_control_on_sig();
        }
    } else if (expected->filter != NULL) {
        hand_down();
    }
    errno = error;
}

typedef int prctl_function(int, unsigned long, unsigned long, unsigned long,
                           unsigned long);

/* The vdso's clock reads the time stamp counter, which no handler may then. */
static int without_counter(prctl_function *real, const unsigned long a[4])
{
    struct expected expected = {NULL, 0};
    if (a[0] == PR_TSC_SIGSEGV && !jp_local_is_borrowed())
        stop(&expected);
    const int result = real(PR_SET_TSC, a[0], a[1], a[2], a[3]);
    settle(&expected, result == 0);
    return result;
}

JP_HOOK(int, prctl, (int option, ...))
{
    JP_REAL(prctl_function, prctl)
    unsigned long a[4];
    va_list more;
    va_start(more, option);
    for (unsigned i = 0; i < 4; i++)
        a[i] = va_arg(more, unsigned long);
    va_end(more);
    if (option == PR_SET_TSC)
        return without_counter(real, a);
    if (option != PR_SET_SECCOMP || (a[0] != SECCOMP_MODE_STRICT &&
                                     a[0] != SECCOMP_MODE_FILTER))
        return real(option, a[0], a[1], a[2], a[3]);
    const struct expected expected =
        expect(a[0] == SECCOMP_MODE_STRICT, a[1]);
    const int result = real(option, a[0], a[1], a[2], a[3]);
    settle(&expected, result == 0);
    return result;
}

/* The bare system calls of what is hooked here by name. */
static int is_bracing(long number)
{
    static const int numbers[] = {
        SYS_chroot, SYS_pivot_root, SYS_setuid, SYS_setreuid, SYS_setresuid,
        SYS_setfsuid, SYS_unshare, SYS_setns, SYS_landlock_restrict_self};
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
    const int descriptor = a[0] == SYS_seccomp &&
                           (a[2] & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
    return result == 0 || (result > 0 && descriptor);
}

static long filtered(jp_syscall_function *real, const long a[7], int strict)
{
    const struct expected expected = expect(strict, (uint64_t)a[3]);
    const long result = real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    settle(&expected, is_installed(a, result));
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
    return jp_exec_failed(
        stopped, real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]));
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
    if (is_bracing(number))
        jp_sandbox_brace();
    if (number == SYS_rt_sigaction)
        return jp_dispositions_syscall(real, all);
    if (jp_code_is_change(all))
        return jp_code_syscall(real, all);
    return real(number, a, b, c, d, e, f);
}

/* Functions after which the log may not be opened any more. */
#define BRACED(name, declared, used)                                          \
    typedef int name##_function declared;                                     \
    JP_HOOK(int, name, declared)                                              \
    {                                                                         \
        JP_REAL(name##_function, name)                                        \
        jp_sandbox_brace();                                                   \
        return real used;                                                     \
    }

BRACED(chroot, (const char *path), (path))
BRACED(setuid, (uid_t user), (user))
BRACED(seteuid, (uid_t user), (user))
BRACED(setreuid, (uid_t real_user, uid_t user), (real_user, user))
BRACED(setresuid, (uid_t real_user, uid_t user, uid_t saved),
       (real_user, user, saved))
BRACED(setfsuid, (uid_t user), (user))
BRACED(unshare, (int what), (what))
BRACED(setns, (int fd, int type), (fd, type))
