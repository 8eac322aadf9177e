/* SPDX-License-Identifier: MIT
 *
 * Sets an alternate signal stack before the constructors of all libraries, a
 * preloaded one's too:
 *     earlystack first|thread|threads|tiny
 * first: of the first thread, which computes while eight later ones share it;
 * thread: of a thread that begins then, and computes in the same way;
 * threads: of two such, which share it; tiny: of the first thread, 2 KiB.
 * Handlers of its own run on the shared stack, one at a time.  Prints what it
 * believes its stacks to be.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>

#define SHARERS 8
#define TINY 2048

static char shared[1 << 18];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int believed, handled;
static sem_t is_set;
static _Atomic int finished, early_believed;

static void handle(int signal)
{
    (void)signal;
    handled++;
}

static void set_shared(size_t size)
{
    const stack_t mine = {.ss_sp = shared, .ss_size = size};
    sigaltstack(&mine, NULL);
}

/* The threads pass the word on, so that timers run out in all of them. */
static void use_shared(void)
{
    stack_t mine;
    sigaltstack(NULL, &mine);
    for (int i = 0; i < 400; i++) {
        turn(20000);
        pthread_mutex_lock(&one_at_a_time);
        believed += mine.ss_sp == shared && mine.ss_size == sizeof(shared);
        raise(SIGUSR2);
        pthread_mutex_unlock(&one_at_a_time);
        sched_yield();
    }
}

static void *share(void *unused)
{
    set_shared(sizeof(shared));
    use_shared();
    finished++;
    return unused;
}

static void compute(void)
{
    while (finished < SHARERS)
        turn(20000);
}

static void *share_and_compute(void *unused)
{
    stack_t mine;
    set_shared(sizeof(shared));
    sigaltstack(NULL, &mine);
    early_believed += mine.ss_sp == shared && mine.ss_size == sizeof(shared);
    sem_post(&is_set);
    compute();
    return unused;
}

/* Runs before all constructors (System V ABI, "Initialization and Termination
 * Functions"). */
static void early(int argc, char **argv)
{
    pthread_t thread;
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "first") == 0)
        set_shared(sizeof(shared));
    if (strcmp(how, "tiny") == 0)
        set_shared(TINY);
    if (strncmp(how, "thread", 6) != 0)
        return;
    sem_init(&is_set, 0, 0);
    for (int i = 0; i < (strcmp(how, "threads") == 0 ? 2 : 1); i++) {
        if (pthread_create(&thread, NULL, share_and_compute, NULL) != 0)
            die("pthread_create");
        pthread_detach(thread);
        sem_wait(&is_set);
    }
}
__attribute__((section(".preinit_array"),
               used)) static void (*const earliest)(int, char **) = early;

static void burn(double seconds)
{
    const double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
        turn(20000);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    pthread_t threads[SHARERS];
    stack_t mine;
    const char *how = argc > 1 ? argv[1] : "";
    sigaction(SIGUSR2, &action, NULL);
    sigaltstack(NULL, &mine);
    printf("shared %d size %zu\n", mine.ss_sp == shared, mine.ss_size);
    burn(0.3);
    if (strcmp(how, "tiny") == 0)
        return 0;
    for (int i = 0; i < SHARERS; i++)
        pthread_create(&threads[i], NULL, share, NULL);
    if (strcmp(how, "first") == 0)
        compute();
    for (int i = 0; i < SHARERS; i++)
        pthread_join(threads[i], NULL);
    printf("believed %d %d handled %d\n", early_believed, believed, handled);
    return 0;
}
