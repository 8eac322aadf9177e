/* SPDX-License-Identifier: MIT
 *
 * Works, fails to exec, works, and becomes another program by the function of
 * the exec family with number WAY (0 to 8); that one has no library preloaded,
 * works a little and prints `done`:
 *     execs [WAY]
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>

extern char **environ;

static void work(double seconds)
{
    const double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
        turn(20000);
}

static void become(int way, char *left)
{
    char *self = "/proc/self/exe", *plain[] = {"LD_PRELOAD=", NULL};
    char *argv[] = {"execs", left, NULL};
    if (way > 3)
        unsetenv("LD_PRELOAD");
    switch (way) {
    case 0:
        execve(self, argv, plain);
        break;
    case 1:
        execvpe(self, argv, plain);
        break;
    case 2:
        execle(self, "execs", left, NULL, plain);
        break;
    case 3:
        execveat(AT_FDCWD, self, argv, plain, 0);
        break;
    case 4:
        execv(self, argv);
        break;
    case 5:
        execvp(self, argv);
        break;
    case 6:
        execl(self, "execs", left, NULL);
        break;
    case 7:
        execlp(self, "execs", left, NULL);
        break;
    default:
        fexecve(open(self, O_RDONLY), argv, environ);
    }
}

int main(int argc, char **argv)
{
    const int way = (int)argument(argc, argv, 1, 0);
    if (way < 0) {
        work(0.1);
        puts("done");
        return 0;
    }
    work(0.1);
    if (execl("/nonexistent", "x", NULL) != -1 || errno != ENOENT)
        return 3;
    work(0.1);
    become(way, "-1");
    return 2;
}
