/* SPDX-License-Identifier: MIT
 *
 * Handlers nested on a thread's stack with just enough room for them:
 *     scant [NESTED=0] [CPU_SECONDS=0.3]
 * Each handler raises the next signal, NESTED deep, and the last one spins.
 * The thread's stack has a guard page below, and whatever is more than the
 * kernel's frames (AT_MINSIGSTKSZ) and a little for the handlers is used up
 * beforehand.  With NESTED=0 the stack has PTHREAD_STACK_MIN bytes, or as many
 * as one handler needs, and the handlers are as many as it has room for.
 * Prints that the thread has no alternate stack but the one that it sets, and
 * that all handlers returned.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <alloca.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define HANDLER_BYTES 512 /* that each handler may use */
#define REST_BYTES 1024   /* for what raises the first */
#define OTHERS 16384      /* the thread's descriptor and variables */
#define FRAME_LEAST 2048
#define LEAST_OTHERS 8192 /* the same where one handler has room */

static const int signals[] = {SIGUSR1, SIGUSR2, SIGWINCH, SIGURG, SIGHUP};
#define MOST ((long)(sizeof(signals) / sizeof(signals[0])))

static char *low;
static long nested, at, returned, in_handler;
static double seconds;
static size_t frame;

static void raise_one(int number)
{
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

static NOINLINE void deepest(void)
{
    for (int i = 0; i < 20; i++)
        turn(20000);
}

static void handler(int number)
{
    (void)number;
    if (++at < nested)
        raise_one(signals[at]);
    else
        deepest();
    at--;
    returned++;
}

static int has_none(void)
{
    stack_t now = {.ss_flags = 0};
    return sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE &&
           now.ss_size == 0;
}

static void asks(int number)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    (void)number;
    in_handler = has_none() && sigaltstack(&none, NULL) == 0 && has_none();
}

/* The alternate stack is the program's own business. */
static void alternate(void)
{
    static char memory[65536], small[8192];
    const stack_t mine = {.ss_sp = memory, .ss_size = sizeof(memory)};
    const stack_t least = {.ss_sp = small, .ss_size = sizeof(small)};
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t old = {.ss_flags = 0};
    const int before = has_none();
    raise_one(SIGALRM);
    sigaltstack(&mine, &old);
    const int first = old.ss_flags == SS_DISABLE;
    sigaltstack(&least, &old);
    const int second = old.ss_sp == memory && old.ss_size == sizeof(memory);
    sigaltstack(&none, &old);
    const int third = old.ss_sp == small && old.ss_size == sizeof(small);
    printf("%d %ld %d %d %d %d\n", before, in_handler, first, second, third,
           has_none());
}

static NOINLINE void rounds(void)
{
    long raised = 0;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds) {
        raise_one(signals[0]);
        raised += nested;
    }
    printf("%d\n", returned == raised);
}

static NOINLINE void use_up(size_t size)
{
    volatile char *memory = alloca(size);
    memory[0] = 1;
    rounds();
    memory[0] = 0;
}

static void *thread_main(void *unused)
{
    alternate();
    const size_t here = (size_t)((char *)__builtin_frame_address(0) - low);
    const size_t each = frame + HANDLER_BYTES;
    if (nested == 0)
        nested = (long)((here - REST_BYTES) / each);
    if (nested > MOST)
        nested = MOST;
    use_up(here - (size_t)nested * each - REST_BYTES);
    return unused;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = handler};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pthread_attr_t attributes;
    pthread_t thread = 0;
    nested = (long)argument(argc, argv, 1, 0);
    seconds = argument(argc, argv, 2, 0.3);
    frame = getauxval(AT_MINSIGSTKSZ);
    if (frame < FRAME_LEAST)
        frame = FRAME_LEAST;
    size_t size = (size_t)PTHREAD_STACK_MIN;
    if (nested != 0)
        size += OTHERS + (size_t)nested * (frame + HANDLER_BYTES);
    else if (size < LEAST_OTHERS + frame)
        size = LEAST_OTHERS + frame; /* as with AMX: 12 KB a frame */
    size = (size + page - 1) & ~(page - 1);
    for (long i = 0; i < MOST; i++)
        sigaction(signals[i], &action, NULL);
    action.sa_handler = asks;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &action, NULL);
    printf("\n"); /* the buffer is there before the thread is */
    char *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
        die("memory");
    low = memory + page;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, low, size) != 0 ||
        pthread_create(&thread, &attributes, thread_main, NULL) != 0)
        die("thread");
    pthread_join(thread, NULL);
    return 0;
}
