/* SPDX-License-Identifier: MIT
 *
 * A debugger that stops the program's first thread before it makes a call that
 * never waits, and lets another thread run a handler, without SA_RESTART, of a
 * signal to the process.
 *     first wait|read [ROUNDS=10] [ours]
 * The call is the second of two, by the same instruction.  ours: the handler
 * runs in the first thread itself, for a signal that comes while a handler of
 * jprof's runs.  (x86-64.)  Prints
 * how many rounds there were, and how many calls failed with EINTR.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

/* More instructions than lie between the calls. */
#define STEPS 100000

static int orders[2], answers[2], quiet[2], rounds;

static void nothing(int number)
{
    (void)number;
}

/* The first thread is stopped, so the signal is for this one. */
static void *take(void *unused)
{
    char byte;
    while (read(orders[0], &byte, 1) == 1) {
        kill(getpid(), SIGUSR2);
        if (write(answers[1], &byte, 1) != 1)
            die("write");
    }
    return unused;
}

static int child(long number)
{
    const struct sigaction action = {.sa_handler = nothing};
    pthread_t other;
    char byte;
    int status, ended = 0;
    const pid_t waiter = fork();
    if (waiter == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    sigaction(SIGUSR2, &action, NULL);
    if (fcntl(quiet[0], F_SETFL, O_NONBLOCK) != 0 ||
        pthread_create(&other, NULL, take, NULL) != 0 ||
        ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        die("child");
    for (int i = 0; i < rounds; i++) {
        raise(SIGSTOP);
        for (int k = 0; k < 2; k++) {
            const long result = number == SYS_read
                                    ? read(quiet[0], &byte, 1)
                                    : waitpid(waiter, &status, WNOHANG);
            ended += result < 0 && errno == EINTR;
        }
    }
    kill(waiter, SIGKILL);
    return ended;
}

/* Lets the thread go on by one instruction or to a system call's begin or end,
 * with a signal of before; *signal: what stopped it otherwise, or 0. */
static struct user_regs_struct go_on(pid_t pid, int how, int *signal)
{
    struct user_regs_struct regs = {0};
    int status = 0;
    if (ptrace(how, pid, NULL, *signal) != 0 ||
        waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
        ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
        die("ptrace");
    *signal = (WSTOPSIG(status) & 0x7f) == SIGTRAP ? 0 : WSTOPSIG(status);
    return regs;
}

/* Executes the first call, and what follows until the thread is about to make
 * the second. */
static void go_to_call(pid_t pid, long number)
{
    struct user_regs_struct regs;
    long code = 0;
    int signal = 0;
    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD);
    do
        regs = go_on(pid, PTRACE_SYSCALL, &signal);
    while (signal != 0 || (long)regs.orig_rax != number ||
           (long)regs.rax == -ENOSYS /* it begins */);
    for (int i = 0; (code & 0xffff) != 0x050f || (long)regs.rax != number;
         i++) {
        regs = go_on(pid, PTRACE_SINGLESTEP, &signal);
        code = ptrace(PTRACE_PEEKTEXT, pid, regs.rip, NULL);
        /* Not jprof's slow timer's: on a busy machine it would run out again
         * before its handler is through, instruction by instruction. */
        signal = 0;
        if (i == STEPS)
            die("go_to_call");
    }
}

static void have_taken(void)
{
    char byte = 0;
    if (write(orders[1], &byte, 1) != 1 || read(answers[0], &byte, 1) != 1)
        die("take");
}

static void interrupt_ours(pid_t pid)
{
    int signal = SIGPROF;
    go_on(pid, PTRACE_SINGLESTEP, &signal);
    syscall(SYS_tgkill, pid, pid, SIGUSR2);
}

int main(int argc, char **argv)
{
    int status, begun = 0;
    rounds = (int)argument(argc, argv, 2, 10);
    if (argc < 2 || pipe(orders) != 0 || pipe(answers) != 0 || pipe(quiet) != 0)
        die("pipe");
    const long number = strcmp(argv[1], "read") == 0 ? SYS_read : SYS_wait4;
    const pid_t pid = fork();
    if (pid == 0)
        _exit(child(number));
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status);
        if (signal == SIGSTOP) {
            go_to_call(pid, number);
            if (argc > 3)
                interrupt_ours(pid);
            else
                have_taken();
            begun++;
            signal = 0;
        }
        ptrace(PTRACE_CONT, pid, NULL, signal);
    }
    printf("rounds %d ended %d\n", begun,
           WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
