/* SPDX-License-Identifier: MIT
 *
 * What takes the files out of reach or forbids system calls: seccomp filters,
 * chroot, another user, other namespaces.  Before it, what a report needs is
 * written and a reserve of the log is mapped.
 * Runs in: any thread, not in a handler. */
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
#include "dispositions.h"
#include "exec.h"
#include "jp_limits.h"
#include "real.h"
#include "sig/clock.h"
#include "sig/control.h"
#include "sig/filter.h"
#include "sig/process.h"
#include "sig/slot.h"
#include "sig/sys.h"
#include "sig/usage.h"
#include "signals.h"
#include "target.h"

#define HANDLER_YIELDS 1000

/* Whether the vdso tells the time without asking the kernel (the clock sources
 * that have a vdso mode in Linux arch/x86 and arch/arm64). */
static int time_is_direct(void)
{
    static const char *const sources[] = {"tsc\n", "kvm-clock\n",
                                          "hyperv_clocksource_tsc_page\n",
                                          "arch_sys_counter\n"};
    char name[64];
    int fd = jp_sys_open_sig("/sys/devices/system/clocksource/clocksource0/"
                             "current_clocksource", O_RDONLY, 0);
    if (fd < 0)
        return 0;
    long got = jp_sys_read_sig(fd, name, sizeof(name) - 1);
    jp_sys_close_sig(fd);
    name[got > 0 ? got : 0] = '\0';
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (strcmp(name, sources[i]) == 0)
            return 1;
    }
    return 0;
}

/* 1: yes, -1: no; asked before /sys may be out of reach. */
static int time_known;

static void brace(void)
{
    const int error = errno;
    if (jp_owned_sig() && jp_sys_getpid_sig() == jp_owner->pid) {
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
        SYS_process_vm_readv, SYS_perf_event_open, SYS_ftruncate};
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

/* Gets ready for a filter that is about to be installed: `program` is where
 * the program's struct sock_fprog is, 0 for the strict mode.  NULL: without
 * a profile, or the kernel will not take it. */
static struct jp_filter *expect(uint64_t program)
{
    struct sock_fprog code = {0};
    if (!jp_owned_sig() || jp_sys_getpid_sig() != jp_owner->pid)
        return NULL;
    const int error = errno;
    brace();
    /* The strict mode takes the time stamp counter away as well. */
    if (time_known != 1 || program == 0) {
        jp_usage_off_sig(JP_OFF_FILTER);
        jp_control_off_sig();
    }
    struct jp_filter *filter = NULL;
    if (program == 0)
        filter = jp_filter_strict_sig();
    else if (jp_sys_peek_sig(program, &code, sizeof(code)) ==
             (long)sizeof(code))
        filter = jp_filter_add_sig((uint64_t)code.filter, code.len);
    if (filter != NULL)
        await_handlers();
    errno = error;
    return filter;
}

static long installed(struct jp_filter *filter, long result)
{
    const int error = errno;
    if (filter != NULL && result < 0)
        jp_filter_drop_sig(filter);
    else if (filter != NULL)
        hand_down();
    errno = error;
    return result;
}

typedef int prctl_function(int, unsigned long, unsigned long, unsigned long,
                           unsigned long);

JP_EXPORT int prctl(int option, ...)
{
    JP_REAL(prctl_function, prctl)
    unsigned long a[4];
    va_list more;
    va_start(more, option);
    for (unsigned i = 0; i < 4; i++)
        a[i] = va_arg(more, unsigned long);
    va_end(more);
    if (option == PR_SET_TSC && a[0] == PR_TSC_SIGSEGV && jp_owned_sig()) {
        jp_usage_off_sig(JP_OFF_FILTER);
        jp_control_off_sig();   /* the vdso's clock reads it */
    }
    if (option != PR_SET_SECCOMP)
        return real(option, a[0], a[1], a[2], a[3]);
    struct jp_filter *filter =
        expect(a[0] == SECCOMP_MODE_STRICT ? 0 : a[1]);
    return (int)installed(filter, real(option, a[0], a[1], a[2], a[3]));
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

static long filtered(jp_syscall_function *real, const long a[7], int strict,
                     long program)
{
    struct jp_filter *filter = expect(strict ? 0 : (uint64_t)program);
    return installed(filter, real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]));
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

/* Named so that the C library's declaration, which has `...`, is not in the
 * way: all six arguments are handed on, whatever they are, by a jump. */
long jp_syscall(long number, long a, long b, long c, long d, long e, long f)
    __asm__("syscall");

JP_EXPORT long jp_syscall(long number, long a, long b, long c, long d, long e,
                          long f)
{
    JP_REAL(jp_syscall_function, syscall)
    const long all[7] = {number, a, b, c, d, e, f};
    if (number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT ||
                                  a == SECCOMP_SET_MODE_FILTER))
        return filtered(real, all, a == SECCOMP_SET_MODE_STRICT, c);
    if (number == SYS_prctl && a == PR_SET_SECCOMP)
        return filtered(real, all, b == SECCOMP_MODE_STRICT, c);
    if (jp_clones_is_fork(number, a))
        return jp_clones_fork(real, all);
    if (number == SYS_execve || number == SYS_execveat)
        return executed(real, all);
    if (is_bracing(number))
        brace();
    if (number == SYS_rt_sigaction && jp_owned_sig())
        return jp_dispositions_syscall(real, all);
    return real(number, a, b, c, d, e, f);
}

/* Functions after which the log may not be opened any more. */
#define BRACED(name, declared, used)                                          \
    typedef int name##_function declared;                                     \
    JP_EXPORT int name declared                                               \
    {                                                                         \
        JP_REAL(name##_function, name)                                        \
        brace();                                                              \
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
