/* SPDX-License-Identifier: MIT
 *
 * Built without frame pointers: spends a second's share of CPU time in each
 * kind of code whose callers are hard to find:
 *     noframe [SECONDS=0.3]
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define DEEP 3000
#define SMALL 200

static double seconds;
static double end_at;

static int more(void)
{
    return cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end_at;
}

NOINLINE uint64_t hot(uint64_t turns);
NOINLINE void in_alloca(size_t size);
NOINLINE void in_qsort(void);
NOINLINE void in_deep(int depth);
NOINLINE void in_realigned(int n);
NOINLINE void in_plt(void);
NOINLINE void in_handler(void);
NOINLINE void in_alternate(void);
NOINLINE void in_coroutine(void);
NOINLINE void everything(void);

uint64_t hot(uint64_t turns)
{
    return turn(turns);
}

void in_alloca(size_t size)
{
    volatile char *room = alloca(size);
    room[0] = 1;
    hot(2000);
    room[size - 1] = room[0];
}

static int compare(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    hot(50);
    return (x > y) - (x < y);
}

void in_qsort(void)
{
    int numbers[500];
    for (int i = 0; i < 500; i++)
        numbers[i] = i * 7919 % 500;
    qsort(numbers, 500, sizeof(numbers[0]), compare);
    BARRIER();
}

void in_deep(int depth)
{
    if (depth > 0)
        in_deep(depth - 1);
    else
        hot(20000);
    BARRIER();
}

void in_realigned(int n)
{
    _Alignas(64) volatile char aligned[128];
    volatile char *room = alloca((size_t)n);
    aligned[0] = room[0] = 1;
    hot(2000);
    room[0] = aligned[0];
}

void in_plt(void)
{
    char text[16];
    for (int i = 0; i < 500; i++) {
        memset(text, 'a' + i % 26, sizeof(text) - 1);
        text[15] = '\0';
        BARRIER();
        if (strtoul(text, NULL, 36) == 0 || atoi(text) != 0)
            abort();
    }
}

static void on_signal(int number)
{
    (void)number;
    for (int i = 0; i < 5; i++)
        hot(2000);
    BARRIER();
}

void in_handler(void)
{
    raise(SIGWINCH);
    BARRIER();
}

void in_alternate(void)
{
    raise(SIGURG);
    BARRIER();
}

static ucontext_t back, there;

static void coroutine(void)
{
    for (;;) {
        hot(5000);
        swapcontext(&there, &back);
    }
}

void in_coroutine(void)
{
    swapcontext(&back, &there);
    BARRIER();
}

#define SPEND(call)                                                            \
    for (end_at = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds; more();)     \
    call

void everything(void)
{
    SPEND(in_alloca(100 + (size_t)(rand() % 900)));
    SPEND(in_qsort());
    SPEND(in_deep(SMALL));
    SPEND(in_deep(DEEP));
    SPEND(in_realigned(1 + rand() % 50));
    SPEND(in_plt());
    SPEND(in_handler());
    SPEND(in_alternate());
    SPEND(in_coroutine());
}

static void *in_thread(void *data)
{
    everything();
    return data;
}

int main(int argc, char **argv)
{
    static char alternate[65536], stack[65536];
    const stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t thread;
    seconds = argument(argc, argv, 1, 0.3);
    sigaction(SIGWINCH, &action, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGURG, &action, NULL);
    if (sigaltstack(&other, NULL) != 0)
        die("sigaltstack");
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof(stack);
    makecontext(&there, coroutine, 0);
    everything();
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
        die("pthread_create");
    pthread_join(thread, NULL);
    return 0;
}
