/* SPDX-License-Identifier: MIT
 *
 * Children that use the CPU, made in each way there is:
 *     forker [CPU_SECONDS_EACH=0.3] [CPU_SECONDS_OF_THE_PARENT_FIRST=0]
 * Prints `fork PID`, `exec PID`, `vfork PID`, `spawn PID`, one a child: the
 * first goes on in this image, the others execute it again as `forker -x`.
 * Afterwards the parent uses no CPU time to speak of.  Exit status 0 when all
 * children's is 7.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;
NOINLINE void child_work(double seconds);

void child_work(double seconds)
{
    double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start < seconds)
        turn(200000);
    BARRIER();
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
    char *const again[] = {argv[0], "-x", argc > 1 ? argv[1] : "0.3", NULL};
    if (argc > 2 && strcmp(argv[1], "-x") == 0) {
        child_work(strtod(argv[2], NULL));
        return 7;
    }
    double seconds = argument(argc, argv, 1, 0.3);
    child_work(argument(argc, argv, 2, 0));
    pid_t pid = fork();
    if (pid == 0) {
        child_work(seconds);
        exit(7);
    }
    int failed = wait_for("fork", pid);
    pid = fork();
    if (pid == 0) {
        execv(argv[0], again);
        _exit(127);
    }
    failed |= wait_for("exec", pid);
    pid = vfork();
    if (pid == 0) {
        execv(argv[0], again);
        _exit(127);
    }
    failed |= wait_for("vfork", pid);
    if (posix_spawn(&pid, argv[0], NULL, NULL, again, environ) != 0)
        die("posix_spawn");
    return failed | wait_for("spawn", pid);
}
