/* SPDX-License-Identifier: MIT
 *
 * Has its system calls become SIGSYS while a byte says so, as Wine does with
 * those of Windows programs, computes meanwhile, and makes one, having computed
 * for 0.1 s before:
 *     dispatch [ROUNDS=100] [raw]
 * raw: by syscall().  Prints how many of its calls came as SIGSYS; status 1
 * when another did, 77 when the kernel has no such thing.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#define NONE 499 /* no system call has this number */

static volatile char selector;
static volatile int right, wrong;

static void handle(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    selector = PR_SYS_DISPATCH_OFF;
    if (info->si_syscall == NONE)
        right++;
    else
        wrong++;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    const int rounds = (int)argument(argc, argv, 1, 100);
    sigaction(SIGSYS, &action, NULL);
    while (clock() < CLOCKS_PER_SEC / 10)
        turn(100000);
    if ((argc > 2 && strcmp(argv[2], "raw") == 0
             ? syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH,
                       PR_SYS_DISPATCH_ON, 0L, 0L, &selector)
             : prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0L, 0L,
                     &selector)) != 0)
        return 77;
    for (int i = 0; i < rounds; i++) {
        selector = PR_SYS_DISPATCH_ON;
        turn(1000000);
        syscall(NONE);
        selector = PR_SYS_DISPATCH_OFF;
    }
    printf("%d of %d\n", right, rounds);
    return wrong != 0;
}
