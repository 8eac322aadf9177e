/* SPDX-License-Identifier: MIT
 *
 * A debugger: follows a child whose threads compute, and is told of the end of
 * each.  Prints how many ends it was told of.
 * Runs in: tests. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define THREAD_SECONDS 0.15

static void *compute(void *data)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < THREAD_SECONDS);
    return data;
}

static int child(void)
{
    pthread_t threads[THREADS];
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 7;
}

int main(void)
{
    int status, ends = 0, first = 1;
    pid_t pid = fork(), got;
    if (pid == 0)
        _exit(child());
    while ((got = waitpid(-1, &status, __WALL)) > 0) {
        if (!WIFSTOPPED(status)) {
            ends++;
            continue;
        }
        if (first)
            ptrace(PTRACE_SETOPTIONS, got, NULL, PTRACE_O_TRACECLONE);
        first = 0;
        /* A new thread's first stop, and the clone's, are the tracer's. */
        const int number = WSTOPSIG(status);
        ptrace(PTRACE_CONT, got, NULL,
               number == SIGSTOP || number == SIGTRAP ? 0 : number);
    }
    printf("%d ends\n", ends);
    return 0;
}
