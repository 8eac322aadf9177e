/* SPDX-License-Identifier: MIT
 *
 * Children of the launcher: their signals, and those that answer a question.
 * Runs in: launcher. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "claim.h"

#ifndef SYS_close_range
/* system call number on every architecture; since Linux 5.9 */
#define SYS_close_range 436
#endif
#define CLOSE_ON_EXEC (1U << 2) /* CLOSE_RANGE_CLOEXEC, 5.11 */
#define FILES_MAX 65536         /* that are closed without it */

static struct sigaction pipe_action, size_action, child_action;
static sigset_t first_mask;
static uint64_t ignored; /* a bit a signal */

void jl_signals_save(void)
{
    struct sigaction action;

    for (int i = 1; i < NSIG && i <= 64; i++)
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            ignored |= 1ULL << (i - 1);
    action = (struct sigaction){.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &action, &pipe_action);
    sigaction(SIGXFSZ, &action, &size_action);
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, &child_action);
    sigprocmask(SIG_SETMASK, NULL, &first_mask);
}

int jl_signal_was_ignored(int number)
{
    return (int)(ignored >> (number - 1) & 1);
}

void jl_signals_restore(void)
{
    sigaction(SIGPIPE, &pipe_action, NULL);
    sigaction(SIGXFSZ, &size_action, NULL);
    sigaction(SIGCHLD, &child_action, NULL);
    sigprocmask(SIG_SETMASK, &first_mask, NULL);
}

/* Takes the launcher's rights from this child. */
static int drop_rights(const struct jl_spawn *spawn)
{
    return setsid() >= 0 && setgroups(0, NULL) == 0 &&
           setresgid(spawn->gid, spawn->gid, spawn->gid) == 0 &&
           setresuid(spawn->uid, spawn->uid, spawn->uid) == 0 &&
           chdir("/") == 0;
}

/* Closes all descriptors when the program is executed, for it may run as
 * another user; also those above the limit, which may have been lowered. */
static void keep_files(void)
{
    if (syscall(SYS_close_range, 3U, ~0U, CLOSE_ON_EXEC) == 0)
        return;
    for (int fd = 3; fd < FILES_MAX; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static _Noreturn void run_child(const struct jl_spawn *spawn, int out)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0 || dup2(null, 0) < 0 || dup2(out < 0 ? null : out, 1) < 0 ||
        dup2(1, 2) < 0 || jl_claim(spawn->jit_files) != 0 ||
        (spawn->as_user && !drop_rights(spawn)))
        _exit(127);
    if (spawn->as_user)
        keep_files();
    jl_signals_restore();
    execve(spawn->path, spawn->argv, spawn->env);
    _exit(127);
}

/* What it prints, as far as there is room; the rest is read and dropped. */
static void take_printed(struct jl_spawn *spawn, int fd, size_t *used)
{
    char rest[512];
    ssize_t got;

    for (;;) {
        size_t room = spawn->size - 1 - *used;

        got = room ? read(fd, spawn->printed + *used, room)
                   : read(fd, rest, sizeof rest);
        if (got <= 0)
            return;
        *used += room ? (size_t)got : 0;
    }
}

/* Waits for the child until its time is over; returns its wait status, or -1
 * after killing it. */
static int await(struct jl_spawn *spawn, int fd)
{
    const struct timespec step = {.tv_nsec = 2000000};
    int64_t end = jr_now_ms() + (int64_t)spawn->seconds * 1000;
    size_t used = 0;
    int status;

    for (;;) {
        pid_t got = waitpid(spawn->pid, &status, WNOHANG);

        if (fd >= 0)
            take_printed(spawn, fd, &used);
        if (spawn->printed)
            spawn->printed[used] = '\0';
        if (got == spawn->pid)
            return status;
        if (got < 0 && errno != EINTR)
            return -1;
        if (jr_now_ms() > end) {
            kill(spawn->pid, SIGKILL);
            waitpid(spawn->pid, &status, 0);
            return -1;
        }
        nanosleep(&step, NULL);
    }
}

int jl_spawn(struct jl_spawn *spawn)
{
    int ends[2] = {-1, -1}, status;

    if (spawn->printed) {
        spawn->printed[0] = '\0';
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
            return -1;
        /* The child's end of the pipe is to block, as in any program. */
        (void)fcntl(ends[1], F_SETFL, 0);
    }
    spawn->pid = fork();
    if (spawn->pid == 0)
        run_child(spawn, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    status = spawn->pid < 0 ? -1 : await(spawn, ends[0]);
    if (ends[0] >= 0)
        close(ends[0]);
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
