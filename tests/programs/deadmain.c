/* SPDX-License-Identifier: MIT
 *
 * A process whose first thread ends before the work begins:
 *     deadmain [CPU_SECONDS=0.5]
 * The second thread goes by turns through a handler on an alternate stack.
 * Prints `bye`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

static double seconds;

NOINLINE void in_handler(int signal);
NOINLINE void in_survivor(void);

void in_handler(int signal)
{
    (void)signal;
    turn(20000000);
}

/* The state of a thread that has ended while others run: Z in proc(5). */
static int first_has_ended(void)
{
    char path[64], state = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)getpid(),
             (int)getpid());
    FILE *stat = fopen(path, "r");
    if (stat == NULL || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
        die(path);
    fclose(stat);
    return state == 'Z';
}

void in_survivor(void)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds) {
        turn(20000000);
        raise(SIGURG);
    }
    BARRIER();
}

static void *survivor(void *unused)
{
    static char memory[65536];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
    const struct sigaction action = {.sa_handler = in_handler,
                                     .sa_flags = SA_ONSTACK};
    (void)unused;
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGURG, &action, NULL) != 0)
        die("alternate stack");
    while (!first_has_ended())
        usleep(1000);
    in_survivor();
    puts("bye");
    exit(0);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    seconds = argument(argc, argv, 1, 0.5);
    if (pthread_create(&thread, NULL, survivor, NULL) != 0)
        die("pthread_create");
    pthread_exit(NULL);
}
