/* SPDX-License-Identifier: MIT
 *
 * A fork server: children that never exec, made past the C library's fork:
 *     server [CPU_SECONDS_EACH=0.3]
 * Prints `HOW PID` of each: clone, bare (_Fork), call (the system call).  The
 * parent works as long first.  Exit status 0 when all children's is 7.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static double seconds;
NOINLINE int serve(void *unused);

int serve(void *unused)
{
    double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    (void)unused;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start < seconds)
        turn(200000);
    return 7;
}

static int wait_for(const char *how, pid_t pid)
{
    int status = 0;
    if (pid < 0)
        die(how);
    printf("%s %d\n", how, (int)pid);
    fflush(stdout);
    if (waitpid(pid, &status, 0) != pid)
        die("waitpid");
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static char stack[65536] __attribute__((aligned(16)));
    seconds = argument(argc, argv, 1, 0.3);
    serve(NULL);
    int failed =
        wait_for("clone", clone(serve, stack + sizeof(stack), SIGCHLD, NULL));
    pid_t pid = _Fork();
    if (pid == 0)
        _exit(serve(NULL));
    failed |= wait_for("bare", pid);
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(serve(NULL));
    return failed | wait_for("call", pid);
}
