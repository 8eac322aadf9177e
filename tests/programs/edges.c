/* SPDX-License-Identifier: MIT
 *
 * A debugger that has a signal of the program's come at the edges of a handler
 * of jprof's, where nothing thread-local says that it runs: the program waits
 * in read, which that signal is to end.
 *     edges begin|return [ROUNDS]
 * begin: one instruction later in each round, from the first one on.  return:
 * by turns, before each of the two instructions to which the handler returns
 * (the C library's restorer).  (x86-64.)  Prints how many reads ended.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

/* The signal of jprof's at which the program is in read, and the log is made;
 * and after how many more a read goes on. */
#define SETTLED 3
#define LATER 20

static int quiet[2], rounds;

static void nothing(int number)
{
    (void)number;
}

static int child(void)
{
    const struct sigaction action = {.sa_handler = nothing};
    char byte;
    int ended = 0;
    sigaction(SIGUSR2, &action, NULL);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        die("ptrace");
    for (int i = 0; i < rounds; i++) {
        raise(SIGSTOP);
        ended += read(quiet[0], &byte, 1) < 0 && errno == EINTR;
    }
    return ended;
}

/* How far the thread is in `mov $15, %rax; syscall` (rt_sigreturn): 0 or 1
 * instructions; -1: it is elsewhere. */
static int steps_in_restorer(pid_t pid, const struct user_regs_struct *regs)
{
    const unsigned long code =
        (unsigned long)ptrace(PTRACE_PEEKTEXT, pid, regs->rip, NULL);
    if ((code & 0xffffffffffffffUL) == 0x0fc0c748)
        return 0;
    return (code & 0xffff) == 0x050f && regs->rax == SYS_rt_sigreturn ? 1 : -1;
}

/* Executes an instruction, or calls the handler of signal `number`. */
static void step(pid_t pid, int *number, struct user_regs_struct *regs)
{
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, pid, NULL, *number) != 0 ||
        waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
        ptrace(PTRACE_GETREGS, pid, NULL, regs) != 0)
        die("ptrace");
    *number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

static void step_to_edge(pid_t pid, int number, int begin, int round)
{
    struct user_regs_struct regs;
    step(pid, &number, &regs);
    if (begin) {
        for (int i = 0; i < round; i++)
            step(pid, &number, &regs);
        return;
    }
    while (steps_in_restorer(pid, &regs) != round % 2)
        step(pid, &number, &regs);
}

int main(int argc, char **argv)
{
    int status, begun = 0, others = 0;
    rounds = (int)argument(argc, argv, 2, 2);
    if (argc < 2 || pipe(quiet) != 0)
        die("pipe");
    const pid_t pid = fork();
    if (pid == 0)
        _exit(child());
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        int number = WSTOPSIG(status);
        if (number == SIGSTOP) {
            begun++;
            others = number = 0;
        } else if (number == SIGALRM && ++others == SETTLED) {
            step_to_edge(pid, number, strcmp(argv[1], "begin") == 0, begun - 1);
            syscall(SYS_tgkill, pid, pid, SIGUSR2);
            number = 0;
        } else if (others == SETTLED + LATER && write(quiet[1], "x", 1) != 1) {
            die("write");
        }
        ptrace(PTRACE_CONT, pid, NULL, number);
    }
    printf("ended %d of %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           rounds);
    return 0;
}
