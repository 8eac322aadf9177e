/* SPDX-License-Identifier: MIT
 *
 * Threads made in every way:
 *     strays KIND [SECONDS=0.5] [COUNT=2] [GO]
 * KIND: pthread, c11 (thrd_create), sigev (timer_create's SIGEV_THREAD),
 * clone (the system call), key (pthread_create; half of the work is in the
 * destructor of thread-specific data).  Each uses SECONDS of CPU time; the main
 * thread waits, with all its signals blocked.  With GO, prints `ready` when the
 * threads are there, and they begin when a byte comes on stdin.
 * Prints `thread TID CPU_SECONDS` for each.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>

#define MOST 64
#define STACK (256UL << 10)

static double seconds;
static struct stray {
    _Atomic int tid;
    double cpu;
    _Atomic int done;
} strays[MOST];
static _Atomic int begun, go = 1;

NOINLINE void stray_work(struct stray *stray);

/* A thread made by the system call has no C library of its own: nothing here
 * touches errno or locks. */
void stray_work(struct stray *stray)
{
    const struct timespec pause = {0, 1000000};
    stray->tid = (int)syscall(SYS_gettid);
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&go))
        syscall(SYS_nanosleep, &pause, NULL);
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        turn(20000);
    stray->cpu = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&stray->done, 1);
}

static void *by_pthread(void *data)
{
    stray_work(data);
    return NULL;
}

static pthread_key_t key;

static void *by_key(void *data)
{
    pthread_setspecific(key, data);
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds / 2)
        turn(20000);
    return NULL;
}

static void in_destructor(void *data)
{
    stray_work(data);
}

static int by_c11(void *data)
{
    stray_work(data);
    return 0;
}

static void by_timer(union sigval value)
{
    stray_work(value.sival_ptr);
}

static int by_clone(void *data)
{
    stray_work(data);
    syscall(SYS_exit, 0);
    return 0;
}

static void start_pthread(struct stray *stray)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, by_pthread, stray) != 0)
        die("pthread_create");
}

static void start_key(struct stray *stray)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, by_key, stray) != 0)
        die("pthread_create");
}

static void start_c11(struct stray *stray)
{
    thrd_t thread;
    if (thrd_create(&thread, by_c11, stray) != thrd_success)
        die("thrd_create");
}

static void start_timer(struct stray *stray)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD,
                             .sigev_notify_function = by_timer,
                             .sigev_value.sival_ptr = stray};
    const struct itimerspec soon = {{0, 0}, {0, 1000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &soon, NULL) != 0)
        die("timer_create");
}

static void start_clone(struct stray *stray)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED ||
        clone(by_clone, stack + STACK,
              CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                  CLONE_SYSVSEM,
              stray) < 0)
        die("clone");
}

static void wait_for(_Atomic int *what, int value)
{
    while (atomic_load(what) < value)
        usleep(1000);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *kind;
        void (*start)(struct stray *stray);
    } ways[] = {{"pthread", start_pthread},
                {"c11", start_c11},
                {"sigev", start_timer},
                {"clone", start_clone},
                {"key", start_key}};
    const int count = (int)argument(argc, argv, 3, 2);
    size_t way = 0;
    while (way < 5 && (argc < 2 || strcmp(argv[1], ways[way].kind) != 0))
        way++;
    if (way == 5 || count < 1 || count > MOST)
        return 64;
    if (pthread_key_create(&key, in_destructor) != 0)
        die("pthread_key_create");
    seconds = argument(argc, argv, 2, 0.5);
    go = argc <= 4;
    for (int i = 0; i < count; i++)
        ways[way].start(&strays[i]);
    wait_for(&begun, count);
    if (argc > 4) {
        puts("ready");
        fflush(stdout);
        getchar();
        atomic_store(&go, 1);
    }
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < count; i++)
        wait_for(&strays[i].done, 1);
    for (int i = 0; i < count; i++)
        printf("thread %d %.6f\n", strays[i].tid, strays[i].cpu);
    return 0;
}
