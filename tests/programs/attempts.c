/* SPDX-License-Identifier: MIT
 *
 * Works for a while in its main thread, a thread, and children that are made
 * in each way; what the kernel refuses is printed, not repeated:
 *     attempts [TURNS=1000000]
 * Of each way a line: `WAY 0` and what came of it, or the error.
 * No clock is asked, as that may be refused too.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;
static uint64_t turns = 1000000;
NOINLINE void toil(void);

void toil(void)
{
    FRAME();
    turn(turns);
    BARRIER();
}

static void *thread(void *unused)
{
    toil();
    return unused;
}

/* Joins a thread without waiting for a futex: glibc ends the program where the
 * kernel refuses that. */
static int join(pthread_t id)
{
    int error;
    while ((error = pthread_tryjoin_np(id, NULL)) == EBUSY)
        usleep(1000);
    return error;
}

static void tell(const char *way, int error, int result)
{
    printf("%s %d %d\n", way, error, result);
    fflush(stdout);
}

/* pid of -1: errno has the reason. */
static void await(const char *way, pid_t pid)
{
    int status = -1;
    if (pid < 0) {
        tell(way, errno, 0);
        return;
    }
    if (waitpid(pid, &status, 0) != pid)
        tell(way, errno, -1);
    else
        tell(way, 0, status);
}

int main(int argc, char **argv)
{
    char *const again[] = {argv[0], "-x", argc > 1 ? argv[1] : "1000000", NULL};
    const int is_child = argc > 2 && strcmp(argv[1], "-x") == 0;
    pthread_t id;
    pid_t pid = -1;
    if (argc > 1)
        turns = strtoull(argv[argc - 1], NULL, 10);
    toil();
    if (is_child)
        return 7;
    int error = pthread_create(&id, NULL, thread, NULL);
    tell("thread", error, error == 0 ? join(id) : 0);
    pid = fork();
    if (pid == 0) {
        toil();
        _exit(7);
    }
    await("fork", pid);
    pid = vfork();
    if (pid == 0) {
        execv(argv[0], again);
        _exit(errno);
    }
    await("vfork", pid);
    error = posix_spawn(&pid, argv[0], NULL, NULL, again, environ);
    errno = error;
    await("spawn", error == 0 ? pid : -1);
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        _exit(9);
    await("clone", pid);
    execv("/no such program", again);
    tell("exec", errno, 0);
    return 5;
}
