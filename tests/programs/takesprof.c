/* SPDX-License-Identifier: MIT
 *
 * Takes SIGPROF for itself while its threads work, and sends each of them
 * signals, one after the other:
 *     takesprof sigaction|syscall|early [SECONDS=0.2] [THREADS=4]
 * by sigaction or by the system call, after SECONDS of CPU time of the process
 * and for as long again (early: while threads begin).  The last thread works
 * in system calls that the kernel ends late.  Prints `sent N got N others N`
 * and `cpu CPU_SECONDS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define THREADS_MAX 64
#define ROUNDS 20
#define BYTES (16UL << 20)

static _Atomic int got, others, stop;
static int count;

static void mine(int number, siginfo_t *info, void *context)
{
    if (number == SIGPROF && info->si_code == SI_TKILL && context != NULL)
        got++;
    else
        others++;
}

static void populate(void)
{
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap");
    munmap(memory, BYTES);
}

static void *work(void *data)
{
    while (!stop) {
        if (data != NULL)
            populate();
        else
            turn(20000);
    }
    return NULL;
}

static void *work_briefly(void *data)
{
    const double until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.008;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        turn(20000);
    return data;
}

/* Begins threads, one pair after the other. */
static void *begin(void *data)
{
    pthread_t pair[2];
    while (!stop) {
        for (int i = 0; i < 2; i++)
            if (pthread_create(&pair[i], NULL, work_briefly, NULL) != 0)
                die("pthread_create");
        for (int i = 0; i < 2; i++)
            pthread_join(pair[i], NULL);
    }
    return data;
}

static void await_cpu(double seconds)
{
    const struct timespec pause = {0, 1000000};
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        nanosleep(&pause, NULL);
}

/* As the kernel has it: handler, flags, restorer, mask (rt_sigaction(2)). */
static void take_by_syscall(void)
{
    uint64_t action[4] = {0}, old[4], handler;
    const struct sigaction any = {.sa_sigaction = mine,
                                  .sa_flags = SA_SIGINFO | SA_RESTART};
    void (*const function)(int, siginfo_t *, void *) = mine;
    /* For its restorer. */
    sigaction(SIGWINCH, &any, NULL);
    syscall(SYS_rt_sigaction, SIGWINCH, NULL, action, 8);
    memcpy(&handler, &function, sizeof(handler));
    action[0] = handler;
    if (syscall(SYS_rt_sigaction, SIGPROF, action, old, 8) != 0)
        die("rt_sigaction");
    syscall(SYS_rt_sigaction, SIGPROF, NULL, action, 8);
    printf("before %d now %d\n", (int)old[0], action[0] == handler);
}

static void take(const char *way)
{
    struct sigaction old,
        action = {.sa_sigaction = mine, .sa_flags = SA_SIGINFO | SA_RESTART};
    if (strcmp(way, "syscall") == 0) {
        take_by_syscall();
        return;
    }
    sigaction(SIGPROF, &action, &old);
    sigaction(SIGPROF, NULL, &action);
    printf("before %d now %d\n", old.sa_handler != SIG_DFL,
           action.sa_sigaction == mine);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX], beginner;
    const double seconds = argument(argc, argv, 2, 0.2);
    const int early = argc > 1 && strcmp(argv[1], "early") == 0;
    count = (int)argument(argc, argv, 3, 4);
    if (argc < 2 || count < 1 || count > THREADS_MAX)
        return 64;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work,
                           i == count - 1 ? &count : NULL) != 0)
            die("pthread_create");
    if (early && pthread_create(&beginner, NULL, begin, NULL) != 0)
        die("pthread_create");
    await_cpu(seconds);
    take(argv[1]);
    int sent = 0;
    for (int i = 0; i < ROUNDS * count; i++) {
        pthread_kill(threads[i % count], SIGPROF);
        for (sent++; got != sent;)
            usleep(100);
    }
    await_cpu(2 * seconds);
    stop = 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    if (early)
        pthread_join(beginner, NULL);
    printf("sent %d got %d others %d\n", sent, got, others);
    printf("cpu %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
