/* SPDX-License-Identifier: MIT
 *
 * exec.  POSIX timers end with the program that made them, but a signal of the
 * perf clock that is pending then, or an interval timer, would come to the new
 * one, which has no handler for it.  So these clocks are stopped first, and go
 * on if the exec fails.
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
#include "sig/clock/clock.h"
#include "sig/files/usage.h"
#include "sig/log/share.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "target.h"

extern char **environ;

typedef int execve_function(const char *, char *const[], char *const[]);
typedef int execv_function(const char *, char *const[]);
typedef int fexecve_function(int, char *const[], char *const[]);
typedef int execveat_function(int, const char *, char *const[], char *const[],
                              int);

/* What jp_exec_before did: the process is jprof's; its clocks are stopped. */
#define OURS 1
#define STOPPED 2

int jp_exec_before(void)
{
    int done = OURS;
    if (jp_local_is_vfork_child()) {
        jp_local_begin_vfork_child();
        return 0;
    }
    jp_usage_note_sig();
    if (jp_process.clock->outlives_exec && atomic_load(&jp_process.running)) {
        jp_clock_all_sig(0);
        done |= STOPPED;
    }
    jp_share_count_sig(-1);
    /* Last: what the clocks sent until now must not wait for the new program.
     * */
    jp_local_exec(SIG_BLOCK);
    return done;
}

long jp_exec_failed(int stopped, long result)
{
    const int error = errno;
    if ((stopped & STOPPED) != 0 && atomic_load(&jp_process.running))
        jp_clock_all_sig(1);
    if ((stopped & OURS) != 0) {
        jp_share_count_sig(1);
        jp_local_exec(SIG_UNBLOCK);
    }
    errno = error;
    return result;
}

/* The rest: the program, as jp_target_tell takes it. */
#define EXEC(name, declared, used, ...)                                        \
    JP_HOOK(int, name, declared)                                               \
    {                                                                          \
        JP_REAL(name##_function, name)                                         \
        jp_target_tell(&(const struct jp_target)__VA_ARGS__);                  \
        const int stopped = jp_exec_before();                                  \
        return (int)jp_exec_failed(stopped, real used);                        \
    }

typedef execv_function execvp_function;
typedef execve_function execvpe_function;

EXEC(execve, (const char *path, char *const argv[], char *const envp[]),
     (path, argv, envp), {path, argv, envp, AT_FDCWD, 0})
EXEC(execv, (const char *path, char *const argv[]), (path, argv),
     {path, argv, environ, AT_FDCWD, 0})
EXEC(execvp, (const char *file, char *const argv[]), (file, argv),
     {file, argv, environ, AT_FDCWD, 1})
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]),
     (file, argv, envp), {file, argv, envp, AT_FDCWD, 1})
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]),
     (fd, argv, envp), {NULL, argv, envp, fd, 0})
EXEC(execveat,
     (int fd, const char *path, char *const argv[], char *const envp[],
      int flags),
     (fd, path, argv, envp, flags), {path, argv, envp, fd, 0})

/* The arguments with the NULL that ends them, counted. */
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

/* Room for them on the stack: a vfork child must not allocate. */
#define ROOM(count) __builtin_alloca(((count) + 1) * sizeof(char *))

JP_HOOK(int, execl, (const char *path, const char *first, ...))
{
    va_list list;
    va_start(list, first);
    const size_t count = count_rest(list);
    va_end(list);
    char **argv = ROOM(count);
    va_start(list, first);
    collect(argv, first, &list, count);
    va_end(list);
    return execve(path, argv, environ);
}

JP_HOOK(int, execlp, (const char *file, const char *first, ...))
{
    va_list list;
    va_start(list, first);
    const size_t count = count_rest(list);
    va_end(list);
    char **argv = ROOM(count);
    va_start(list, first);
    collect(argv, first, &list, count);
    va_end(list);
    return execvp(file, argv);
}

JP_HOOK(int, execle, (const char *path, const char *first, ...))
{
    va_list list;
    va_start(list, first);
    const size_t count = count_rest(list);
    va_end(list);
    char **argv = ROOM(count);
    va_start(list, first);
    collect(argv, first, &list, count);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}
