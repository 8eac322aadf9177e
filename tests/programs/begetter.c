/* SPDX-License-Identifier: MIT
 *
 * Makes processes in every way there is, by turns and from several threads:
 *     begetter THREADS ROUNDS [STATIC_PROGRAM]
 * Each child ends with a status that its parent checks; so does a grandchild
 * by daemon(3).  STATIC_PROGRAM is executed as well, and /bin/sh without any
 * environment: programs that the library is not in.
 * Prints `children N`, and `orphans N`: children that were left unwaited.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define THREADS_MAX 32

extern char **environ;
static const char *static_program;
static int rounds;
static _Atomic int children;

static void check(const char *what, pid_t pid, int expected)
{
    int status = 0;
    if (pid <= 0)
        die(what);
    while (waitpid(pid, &status, 0) != pid) {
        if (errno != EINTR)
            die("waitpid");
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != expected) {
        fprintf(stderr, "%s: status %x, not %d\n", what, status, expected);
        _exit(1);
    }
    atomic_fetch_add(&children, 1);
}

static void by_fork(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(7);
    check("fork", pid, 7);
}

static void by_fork_exec(void)
{
    static char *const nothing[] = {NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execle("/bin/sh", "sh", "-c", "exit 9", (char *)NULL, nothing);
        _exit(127);
    }
    check("fork and exec", pid, 9);
}

static void by_vfork(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exec /bin/sh -c 'exit 11'", (char *)NULL);
        _exit(127);
    }
    check("vfork", pid, 11);
}

static void by_vfork_without_exec(void)
{
    pid_t pid = vfork();
    if (pid == 0)
        _exit(12);
    check("vfork without exec", pid, 12);
}

static void by_spawn(void)
{
    static char *const argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 13",
                                 NULL};
    pid_t pid = -1;
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0)
        die("posix_spawn");
    check("posix_spawn", pid, 13);
}

static void by_popen(void)
{
    char line[16] = "";
    FILE *pipe = popen("echo a; exit 15", "r");
    if (pipe == NULL || fgets(line, sizeof(line), pipe) == NULL)
        die("popen");
    int status = pclose(pipe);
    if (strcmp(line, "a\n") != 0 || WEXITSTATUS(status) != 15) {
        fprintf(stderr, "popen: %s, status %x\n", line, status);
        _exit(1);
    }
    atomic_fetch_add(&children, 1);
}

static void by_system(void)
{
    int status = system("exit 17");
    if (WEXITSTATUS(status) != 17) {
        fprintf(stderr, "system: status %x\n", status);
        _exit(1);
    }
    atomic_fetch_add(&children, 1);
}

static int cloned(void *data)
{
    return *(int *)data;
}

static void by_clone(void)
{
    int status = 19;
    char *stack = malloc(65536);
    check("clone", clone(cloned, stack + 65536, SIGCHLD, &status), 19);
    check(
        "clone sharing memory",
        clone(cloned, stack + 65536, CLONE_VM | CLONE_VFORK | SIGCHLD, &status),
        19);
    free(stack);
}

static void by_system_call(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(21);
    check("SYS_clone", pid, 21);
}

static void by_bare_fork(void)
{
    pid_t pid = _Fork();
    if (pid == 0)
        _exit(23);
    check("_Fork", pid, 23);
}

static void by_daemon(void)
{
    char answer = 0;
    int ends[2];
    if (pipe(ends) != 0)
        die("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        if (daemon(0, 0) == 0 && write(ends[1], "d", 1) == 1)
            _exit(0);
        _exit(1);
    }
    close(ends[1]);
    check("daemon", pid, 0);
    if (read(ends[0], &answer, 1) != 1 || answer != 'd')
        die("daemon");
    close(ends[0]);
}

static void by_static(void)
{
    pid_t pid = vfork();
    if (static_program == NULL) {
        if (pid == 0)
            _exit(25);
    } else if (pid == 0) {
        close(1);
        execl(static_program, static_program, "0.01", "25", (char *)NULL);
        _exit(127);
    }
    check("static program", pid, 25);
}

static void *work(void *data)
{
    static void (*const ways[])(void) = {
        by_fork,        by_fork_exec, by_vfork,  by_vfork_without_exec,
        by_spawn,       by_popen,     by_system, by_clone,
        by_system_call, by_bare_fork, by_daemon, by_static};
    const unsigned count = sizeof(ways) / sizeof(ways[0]);
    unsigned seed = (unsigned)(uintptr_t)data * 2654435761U;
    for (int i = 0; i < rounds; i++) {
        for (unsigned j = 0; j < count; j++) {
            seed = seed * 1103515245U + 12345U;
            turn(20000);
            ways[j == 0 ? (unsigned)i % count : (seed >> 16) % count]();
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    int count = (int)argument(argc, argv, 1, 2), orphans = 0;
    rounds = (int)argument(argc, argv, 2, 5);
    static_program = argc > 3 ? argv[3] : NULL;
    if (count < 1 || count > THREADS_MAX)
        return 64;
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work,
                           (void *)(uintptr_t)(i + 1)) != 0)
            die("pthread_create");
    }
    work((void *)(uintptr_t)99);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    while (waitpid(-1, NULL, 0) > 0)
        orphans++;
    printf("children %d\norphans %d\n", atomic_load(&children), orphans);
    return 0;
}
