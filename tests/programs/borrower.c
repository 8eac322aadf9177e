/* SPDX-License-Identifier: MIT
 *
 * Raises SIGPROF ten times, then five times in a vfork child, which borrows
 * this memory and stack, and ten times more:
 *     borrower
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void signal_self(int times)
{
    for (int i = 0; i < times; i++)
        if (syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid),
                    SIGPROF) != 0)
            die("tgkill");
}

int main(void)
{
    int status;
    signal_self(10);
    pid_t pid = vfork();
    if (pid == 0) {
        signal_self(5);
        _exit(7);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 7)
        die("waitpid");
    signal_self(10);
    return 0;
}
