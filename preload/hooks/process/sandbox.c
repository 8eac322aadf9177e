/* SPDX-License-Identifier: MIT
 *
 * Hooks of calls that take files out of reach or forbid system calls: seccomp
 * filters, chroot, another user, other namespaces.  Before the call, what a
 * report needs is written, and a reserve of the log is mapped.
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

#include "handover.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/signals/kernel.h"
#include "jp_limits.h"
#include "sig/arch/arch.h"
#include "sig/clock/clock.h"
#include "sig/clock/process_timer.h"
#include "sig/control.h"
#include "sig/critical.h"
#include "sig/files/usage.h"
#include "sig/logfile.h"
#include "sig/os/filter.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"
#include "sig/state/dispatched.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

#define CLOCK_ROUNDS 12
#define CLOCK_CALLS 8
#define HANDLER_YIELDS 1000

/* PR_SYS_DISPATCH_INCLUSIVE_ON of Linux 6.17 (linux/prctl.h): the calls in the
 * range become signals, not those outside of it. */
#define INCLUSIVE_ON 2

/* Measures the shortest time, of CLOCK_ROUNDS, that CLOCK_CALLS readings of the
 * clock take, and as many of the shortest system call. */
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

/* Whether the vdso tells the time without a system call, which depends on the
 * clock source.  With one, it takes longer than the shortest system call by
 * what reading the clock costs.  It is measured since /sys, which names the
 * clock source, is not in every container. */
static int time_is_direct(void)
{
    uint64_t clock, kernel;
    time_calls(&clock, &kernel);
    return clock * 5 < kernel * 4;
}

/* time_is_direct(), measured before there is a filter: 1: yes, -1: no. */
static int time_known;

void jp_sandbox_before(void)
{
    const int error = errno;
    if (!jp_local_is_vfork_child()) {
        uint64_t mask = jp_critical_begin_sig();
        if (time_known == 0)
            time_known = time_is_direct() ? 1 : -1;
        jp_control_before_sandbox_sig();
        jp_critical_end_sig(mask);
    }
    errno = error;
}

/* Whether programs can be profiled behind the filters without a system call of
 * jprof's: one that most containers' filters answer with an error. */
static int is_spared(long number)
{
    return (number == SYS_perf_event_open || number == SYS_process_vm_readv) &&
           jp_filter_answers_sig(number);
}

/* Empties JPROF_FLAGS, so that programs executed from here on are not
 * profiled, if the filters forbid a system call that profiling begins with.
 * These programs inherit the filters without knowing them. */
static void hand_down(void)
{
    static const int needed[] = {SYS_timer_create,    SYS_timer_delete,
                                 SYS_timer_settime,   SYS_openat,
                                 JP_ARCH_STAT,        SYS_getdents64,
                                 SYS_readlinkat,      SYS_unlinkat,
                                 SYS_fallocate,       SYS_pwrite64,
                                 SYS_pread64,         SYS_mmap,
                                 SYS_munmap,          SYS_madvise,
                                 SYS_ioctl,           SYS_fcntl,
                                 SYS_flock,           SYS_prlimit64,
                                 SYS_rt_sigaction,    SYS_rt_sigprocmask,
                                 SYS_sigaltstack,     SYS_tgkill,
                                 SYS_getpid,          SYS_getppid,
                                 SYS_gettid,          SYS_geteuid,
                                 SYS_futex,           SYS_clock_gettime,
                                 SYS_sched_yield,     SYS_linkat,
                                 SYS_sendfile,        SYS_process_vm_readv,
                                 SYS_perf_event_open, SYS_ftruncate,
                                 SYS_rt_sigreturn};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        char *flags = getenv(JP_ENV_FLAGS);
        if (flags != NULL && jp_filter_number_sig(needed[i]) != 0 &&
            !is_spared(needed[i]))
            flags[0] = '\0';
    }
}

/* Waits for handlers in other threads: one may be about to make a system call
 * that it asked the filters about before the new one was known. */
static void await_handlers(void)
{
    uint32_t count = jp_threads_used_sig();
    for (uint32_t i = 0; i < count; i++) {
        for (int n = 0; n < HANDLER_YIELDS; n++) {
            if (atomic_load(&jp_thread_at_sig(i)->busy) == 0)
                break;
            sched_yield();
        }
    }
}

/* So that the log says why the profile ended, also before the first sample. */
static void make_log(void)
{
    const uint64_t mask = jp_critical_begin_sig();
    jp_logfile_ensure_sig();
    jp_critical_end_sig(mask);
}

/* Stops the profile, since it cannot go on; nothing starts it again.  ended:
 * JP_ENDED_FOR_ALL or JP_ENDED_HERE. */
static void stop(struct jp_sandbox_filter *expected, uint32_t ended)
{
    expected->before = atomic_load(&jp_process.ended);
    if (expected->before == JP_ENDED_FOR_ALL ||
        (expected->before != JP_ENDED_NOT && ended == JP_ENDED_HERE))
        return;
    expected->stopped = 1;
    expected->ran = atomic_load(&jp_process.running) != 0;
    if (expected->ran)
        make_log();
    atomic_store(&jp_process.ended, ended == JP_ENDED_HERE && expected->ran
                                        ? JP_ENDED_HERE_RUNNING
                                        : ended);
    jp_usage_off_sig(JP_OFF_FILTER);
    jp_control_off_sig();
}

/* Does the same, and stops jprof's signals, since no handler could return. */
static void hush(struct jp_sandbox_filter *expected, uint32_t ended)
{
    stop(expected, ended);
    await_handlers();
    expected->hushed = jp_kernel_hush(1);
}

/* Adds the program's filter to those that jprof knows.  If it forbids the
 * return from handlers, as sshd's does, stops the profile before that. */
static void add_filter(struct jp_sandbox_filter *expected,
                       const struct sock_fprog *code)
{
    expected->filter = jp_filter_add_sig((uint64_t)code->filter, code->len);
    if (expected->filter == NULL || jp_filter_number_sig(SYS_rt_sigreturn) == 0)
        return;
    jp_filter_drop_sig(expected->filter);
    hush(expected, JP_ENDED_FOR_ALL);
    expected->filter = jp_filter_add_sig((uint64_t)code->filter, code->len);
}

/* Has the timers go on as they must behind a filter that was just added to
 * those that jprof knows.  may_set: those before it allow to set timers, so the
 * kernel does as yet.  (jprof makes no call that a filter which it knows
 * forbids, so the filter is taken away meanwhile.) */
static void prepare_timers(struct jp_sandbox_filter *expected,
                           const struct sock_fprog *code, int may_set)
{
    if (may_set && jp_filter_number_sig(SYS_timer_create) != 0)
        jp_process_timer_hasten_sig();
    await_handlers();
    if (!may_set || jp_filter_number_sig(SYS_timer_settime) == 0)
        return;
    if (code->len != 0)
        jp_filter_drop_sig(expected->filter);
    jp_clock_fence_sig();
    if (code->len != 0)
        expected->filter = jp_filter_add_sig((uint64_t)code->filter, code->len);
}

/* Reads the struct sock_fprog at `address`.  Returns 1; 0 when the kernel will
 * not accept it (programs try so whether it knows filters at all); -1 when a
 * filter forbids to read memory. */
static int read_program(uint64_t address, struct sock_fprog *code)
{
    struct sock_filter last = {0, 0, 0, 0};
    long got = jp_self_read_sig(address, code, sizeof(*code));
    if (got == (long)sizeof(*code)) {
        if (code->len == 0 || code->len > BPF_MAXINSNS)
            return 0;
        got = jp_self_read_sig((uint64_t)(code->filter + code->len - 1), &last,
                               sizeof(last));
        if (got == (long)sizeof(last))
            return 1;
    }
    return got == -EPERM || got == -ENOSYS || got == -EACCES ? -1 : 0;
}

struct jp_sandbox_filter jp_sandbox_expect(int strict, uint64_t address)
{
    struct jp_sandbox_filter expected = {.filter = NULL};
    struct sock_fprog code = {0};
    if (jp_local_is_vfork_child())
        return expected;
    const int error = errno;
    const int known = strict ? 1 : read_program(address, &code);
    if (known != 0) {
        const int may_set = jp_filter_number_sig(SYS_timer_settime) == 0;
        jp_sandbox_before();
        /* The strict mode forbids to read the time stamp counter as well. */
        if (time_known != 1 || strict || known < 0 ||
            atomic_load(&jp_sys_no_counter) != 0)
            stop(&expected, JP_ENDED_FOR_ALL);
        if (strict)
            expected.filter = jp_filter_strict_sig();
        else if (known > 0)
            add_filter(&expected, &code);
        if (expected.filter != NULL)
            prepare_timers(&expected, &code, may_set);
        else if (!expected.stopped)
            stop(&expected, JP_ENDED_FOR_ALL);
    }
    errno = error;
    return expected;
}

void jp_sandbox_settle(const struct jp_sandbox_filter *expected, int installed)
{
    const int error = errno;
    if (!installed) {
        if (expected->filter != NULL)
            jp_filter_drop_sig(expected->filter);
        if (expected->hushed)
            jp_kernel_hush(0);
        if (expected->stopped) {
            atomic_store(&jp_process.ended, expected->before);
            if (expected->before == JP_ENDED_NOT)
                jp_usage_off_sig(JP_OFF_NONE);
            if (expected->ran)
                jp_control_on_sig();
        }
    } else if (expected->filter != NULL) {
        hand_down();
    }
    errno = error;
}

/* prctl(PR_SET_TSC): asks the kernel for the time from here on if the time
 * stamp counter, which the vdso's clock reads in handlers, is forbidden; where
 * filters forbid that, too, stops the profile.  (In a vfork child, its parent's
 * clock becomes slower.) */
static int without_counter(__typeof__(prctl) *real, const unsigned long a[4])
{
    struct jp_sandbox_filter expected = {.filter = NULL};
    const uint32_t before = atomic_load(&jp_sys_no_counter);
    if (a[0] == PR_TSC_SIGSEGV) {
        atomic_store(&jp_sys_no_counter, 1);
        if (jp_filter_number_sig(SYS_clock_gettime) != 0 &&
            !jp_local_is_vfork_child())
            stop(&expected, JP_ENDED_FOR_ALL);
    }
    const int result = real(PR_SET_TSC, a[0], a[1], a[2], a[3]);
    if (result != 0)
        atomic_store(&jp_sys_no_counter, before);
    jp_sandbox_settle(&expected, result == 0);
    return result;
}

/* prctl(PR_SET_SYSCALL_USER_DISPATCH): stops the profile, as a handler's return
 * is one of the calls that become SIGSYS (Linux: Documentation/admin-guide/
 * syscall-user-dispatch.rst), and has jprof make none in this thread. */
static int with_dispatch(__typeof__(prctl) *real, const unsigned long a[4])
{
    struct jp_sandbox_filter expected = {.filter = NULL};
    if (jp_local_is_vfork_child())
        return real(PR_SET_SYSCALL_USER_DISPATCH, a[0], a[1], a[2], a[3]);
    const int on = a[0] != PR_SYS_DISPATCH_OFF;
    if (on) {
        hush(&expected, JP_ENDED_HERE);
        jp_dispatched_prepare_sig();
    }
    const int result =
        real(PR_SET_SYSCALL_USER_DISPATCH, a[0], a[1], a[2], a[3]);
    if (result == 0 && on)
        jp_dispatched_begin_sig(&(const struct jp_dispatched){
            a[1], a[2], a[0] == INCLUSIVE_ON, (const volatile uint8_t *)a[3]});
    else if (result == 0)
        jp_dispatched_end_sig();
    jp_sandbox_settle(&expected, result == 0);
    if (result == 0 && expected.stopped && !jp_process.is_child &&
        atomic_load(&jp_process.sections) == 0)
        jp_complain_sig("the profile does not begin: the program's system "
                        "calls become signals (PR_SET_SYSCALL_USER_DISPATCH)",
                        NULL, 0);
    return result;
}

JP_HOOK(int, prctl, (int option, ...))
{
    JP_REAL(prctl)
    unsigned long a[4];
    va_list more;
    va_start(more, option);
    for (unsigned i = 0; i < 4; i++)
        a[i] = va_arg(more, unsigned long);
    va_end(more);
    if (option == PR_SET_TSC)
        return without_counter(real, a);
    if (option == PR_SET_SYSCALL_USER_DISPATCH)
        return with_dispatch(real, a);
    if (option != PR_SET_SECCOMP ||
        (a[0] != SECCOMP_MODE_STRICT && a[0] != SECCOMP_MODE_FILTER))
        return real(option, a[0], a[1], a[2], a[3]);
    const struct jp_sandbox_filter expected =
        jp_sandbox_expect(a[0] == SECCOMP_MODE_STRICT, a[1]);
    const int result = real(option, a[0], a[1], a[2], a[3]);
    jp_sandbox_settle(&expected, result == 0);
    return result;
}

/* Defines the hook of a function after which the log's files may be out of
 * reach. */
#define BEFORE_SANDBOX(name, declared, used)                                   \
    JP_HOOK(int, name, declared)                                               \
    {                                                                          \
        JP_REAL(name)                                                          \
        jp_sandbox_before();                                                   \
        return real used;                                                      \
    }

BEFORE_SANDBOX(chroot, (const char *path), (path))
BEFORE_SANDBOX(setuid, (uid_t user), (user))
BEFORE_SANDBOX(seteuid, (uid_t user), (user))
BEFORE_SANDBOX(setreuid, (uid_t real_user, uid_t user), (real_user, user))
BEFORE_SANDBOX(setresuid, (uid_t real_user, uid_t user, uid_t saved),
               (real_user, user, saved))
BEFORE_SANDBOX(setfsuid, (uid_t user), (user))
BEFORE_SANDBOX(setns, (int fd, int type), (fd, type))

void jp_sandbox_unshare(int what)
{
    jp_sandbox_before();
    if ((what & CLONE_NEWNS) != 0)
        jp_handover_keep();
}

JP_HOOK(int, unshare, (int what))
{
    JP_REAL(unshare)
    jp_sandbox_unshare(what);
    return real(what);
}
