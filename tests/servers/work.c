/* SPDX-License-Identifier: MIT
 *
 * Some work for a debugger, a tracer and a checker to look at: threads that
 * allocate and sort, signals, a child.  What it prints is always the same.
 *     work [ROUNDS=1 [TIMES=1]]
 * Each round has three threads, which do their work so many times.  What a
 * thread uses at its end is in no sample: 1 ms under strace, 2 under valgrind.
 *
 * Runs in: tests.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, NUMBERS = 3000, TURNS = 20 };

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    handled += number == SIGUSR1 ? 1 : 100;
}

static int compare(const void *a, const void *b)
{
    unsigned one = *(const unsigned *)a, two = *(const unsigned *)b;

    return (one > two) - (one < two);
}

__attribute__((noinline)) static unsigned sorted(unsigned seed)
{
    unsigned *numbers = malloc(NUMBERS * sizeof *numbers), middle;

    if (numbers == NULL)
        abort();
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = seed = seed * 1103515245 + 12345;
    qsort(numbers, NUMBERS, sizeof *numbers, compare);
    middle = numbers[NUMBERS / 2];
    free(numbers);
    return middle;
}

static int repeats = 1;

static void *thread(void *argument)
{
    unsigned *result = argument;

    for (int i = 0; i < TURNS * repeats; i++)
        *result = sorted(*result);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    unsigned results[THREADS] = {1, 2, 3};
    pthread_t threads[THREADS];
    int status = 0, turns = argc > 1 ? atoi(argv[1]) : 1;

    if (argc > 2)
        repeats = atoi(argv[2]);
    sigaction(SIGUSR1, &action, NULL);
    while (turns-- > 0) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, thread, &results[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        raise(SIGUSR1);
    }
    fflush(stdout);
    if (fork() == 0) {
        printf("child %u\n", sorted(7));
        exit(7);
    }
    wait(&status);
    printf("%u %u %u, %d handled, child %d\n", results[0], results[1],
           results[2], (int)handled, WEXITSTATUS(status));
    return 3;
}
