/* SPDX-License-Identifier: MIT
 *
 * Hooks of the exec functions.  POSIX timers end at an exec, but an interval
 * timer would go on, and a pending signal of the perf clock would come to the
 * new program, which has no handler for it; and in real time, waiting threads
 * have time that no sample covers yet.  So these clocks are stopped first, and
 * started again if the exec fails.
 * Runs in: any thread, vfork children. */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/signals/kernel.h"
#include "sig/adopt.h"
#include "sig/clock/clock.h"
#include "sig/control.h"
#include "sig/critical.h"
#include "sig/files/tree.h"
#include "sig/files/usage.h"
#include "sig/log/share.h"
#include "sig/state/process.h"
#include "handover.h"
#include "sandbox.h"
#include "target.h"

extern char **environ;

/* What jp_exec_before returns: bits, 0 in a vfork child. */
#define OURS 1    /* the caller is the profiled process */
#define STOPPED 2 /* its clocks were stopped */
#define OFF 4     /* the new program's log is given up */
#define PASSED 8  /* a descriptor was passed on */

/* In a process that may have left the log's files behind: passes their folder
 * on to the new program, or says in the header that it cannot write there, if
 * so.  Returns PASSED or OFF then. */
static int hand_on(const struct jp_target *target)
{
    if (jp_handover_pass(target))
        return PASSED;
    const int error = jp_share_is_there_sig() ? jp_tree_reach_sig() : 0;
    if (error == 0)
        return 0;
    jp_sandbox_before(); /* a header, if there is none yet */
    jp_usage_off_sig(error == -EROFS    ? JP_OFF_READONLY
                     : error == -ENOENT ? JP_OFF_OUT_OF_SIGHT
                                        : JP_OFF_FORBIDDEN);
    return OFF;
}

/* Writes what no sample of the threads covers yet.  A signal raised in this
 * thread meanwhile waits until that is done, as its sample could not be taken
 * while the thread's own time is written. */
static void flush_time(void)
{
    const uint64_t mask = jp_critical_begin_sig();
    jp_control_flush_time_sig();
    jp_critical_end_sig(mask);
}

static void settle(void)
{
    const uint64_t mask = jp_critical_begin_sig();
    jp_adopt_settle_sig();
    jp_critical_end_sig(mask);
}

int jp_exec_before(const struct jp_target *target)
{
    int done = OURS;
    jp_kernel_exec(1);
    if (jp_local_is_vfork_child()) {
        jp_local_begin_vfork_child();
        jp_handover_pass(target);
        return 0;
    }
    settle();
    jp_usage_exec_sig();
    done |= hand_on(target);
    if (atomic_load(&jp_process.running)) {
        if (jp_process.clock->sees_waits)
            flush_time();
        else if (jp_process.clock->outlives_exec)
            jp_clock_all_sig(0);
        if (jp_process.clock->sees_waits || jp_process.clock->outlives_exec)
            done |= STOPPED;
    }
    jp_share_count_sig(-1);
    /* Last, as signals that the clocks have sent must come before the mask
     * blocks them: else they would wait for the new program. */
    jp_local_exec(SIG_BLOCK);
    return done;
}

long jp_exec_failed(int stopped, long result)
{
    const int error = errno;
    if ((stopped & STOPPED) != 0 && atomic_load(&jp_process.running))
        jp_clock_all_sig(1);
    if ((stopped & OFF) != 0)
        jp_usage_off_sig(JP_OFF_NONE);
    if ((stopped & PASSED) != 0)
        jp_handover_stay();
    if ((stopped & OURS) != 0) {
        jp_share_count_sig(1);
        jp_local_exec(SIG_UNBLOCK);
        jp_kernel_exec(0);
    }
    errno = error;
    return result;
}

/* Defines the hook of one exec function.  The last arguments: struct jp_target
 * of the new program. */
#define EXEC(name, declared, used, ...)                                        \
    JP_HOOK(int, name, declared)                                               \
    {                                                                          \
        JP_REAL(name)                                                          \
        struct jp_target target = __VA_ARGS__;                                 \
        JP_TARGET_PRELOAD(&target);                                            \
        jp_target_tell(&target);                                               \
        const int stopped = jp_exec_before(&target);                           \
        return (int)jp_exec_failed(stopped, real used);                        \
    }

EXEC(execve, (const char *path, char *const argv[], char *const envp[]),
     (path, argv, target.envp), {path, argv, envp, AT_FDCWD, 0})
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]),
     (file, argv, target.envp), {file, argv, envp, AT_FDCWD, 1})
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]),
     (fd, argv, target.envp), {NULL, argv, envp, fd, 0})
EXEC(execveat,
     (int fd, const char *path, char *const argv[], char *const envp[],
      int flags),
     (fd, path, argv, target.envp, flags), {path, argv, envp, fd, 0})

JP_HOOK(int, execv, (const char *path, char *const argv[]))
{
    return execve(path, argv, environ);
}

JP_HOOK(int, execvp, (const char *file, char *const argv[]))
{
    return execvpe(file, argv, environ);
}

/* The number of variable arguments, with the NULL that ends them. */
static size_t count_rest(va_list list)
{
    size_t count = 1;
    while (va_arg(list, char *) != NULL)
        count++;
    return count;
}

static void collect(char **argv, const char *first, va_list *list, size_t count)
{
    argv[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= count; i++)
        argv[i] = va_arg(*list, char *);
}

/* Defines the hook of an exec function with a list of arguments, which it hands
 * on as an array; that is on the stack, as a vfork child must not allocate.
 * environment: the new program's, an expression that may read the list behind
 * its NULL. */
#define EXEC_LIST(name, environment, exec)                                     \
    JP_HOOK(int, name, (const char *program, const char *first, ...))          \
    {                                                                          \
        va_list list;                                                          \
        va_start(list, first);                                                 \
        const size_t count = count_rest(list);                                 \
        va_end(list);                                                          \
        char **argv = __builtin_alloca((count + 1) * sizeof(char *));          \
        va_start(list, first);                                                 \
        collect(argv, first, &list, count);                                    \
        char *const *envp = (environment);                                     \
        va_end(list);                                                          \
        return exec(program, argv, envp);                                      \
    }

EXEC_LIST(execl, environ, execve)
EXEC_LIST(execlp, environ, execvpe)
EXEC_LIST(execle, va_arg(list, char *const *), execve)
