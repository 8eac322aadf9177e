/* SPDX-License-Identifier: MIT
 *
 * Measures how much stack the handler needs, on a thread with the smallest
 * stack there is:
 *     smallstack [CPU_SECONDS=0.5] [control]
 * A signal shows where the kernel's frame ends when spin() is interrupted,
 * which calls nothing: every such frame ends there.  Everything below that is
 * painted, samples come in, and the deepest byte that lost its paint is looked
 * for.  The main thread sends the signals and looks when the time is over.  The
 * alternate stack that jprof gives a thread with so little is turned off, past
 * its hook.
 * With `control`, a pause and a resume are sent to the thread as well.  Prints
 *     stack BYTES_OF_STACK used BYTES_BELOW_THE_KERNEL_FRAME
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#define PAINT 0xa5
#define ALIGN_SLACK 64 /* the kernel aligns its frame */

static enum { NONE, READY, PAINTED, ENOUGH } _Atomic step;
static char *volatile frame_end; /* the handler's first stack pointer */
static long stack_size, used = -1;

static void own_handler(int number, siginfo_t *info, void *context)
{
    (void)number;
#ifdef __x86_64__
    (void)info;
    frame_end = (char *)context - sizeof(void *); /* the return address */
#else
    (void)context;
    frame_end = (char *)info;
#endif
}

/* Runs with nothing but its own small frame above the kernel's. */
static NOINLINE void spin(char *low)
{
    volatile char *byte;
    atomic_store(&step, READY);
    while (!frame_end)
        turn(1000);
    for (byte = low; byte < frame_end; byte++)
        *byte = (char)PAINT;
    atomic_store(&step, PAINTED);
    while (atomic_load(&step) != ENOUGH)
        turn(1000);
    for (byte = low; byte < frame_end && *byte == (char)PAINT; byte++)
        continue;
    used = frame_end - byte + (byte < frame_end ? ALIGN_SLACK : 0);
}

static void until(int wanted)
{
    while ((int)atomic_load(&step) != wanted)
        usleep(1000);
}

static void *thread_main(void *unused)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    stack_size = (long)size;
    syscall(SYS_sigaltstack, &none, NULL);
    spin(low);
    return unused;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = own_handler,
                               .sa_flags = SA_SIGINFO};
    pthread_attr_t attributes;
    pthread_t thread;
    clockid_t clock;
    const double seconds = argument(argc, argv, 1, 0.5);
    const int with_control = argc > 2 && strcmp(argv[2], "control") == 0;
    sigaction(SIGURG, &action, NULL);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) ||
        pthread_create(&thread, &attributes, thread_main, NULL) ||
        pthread_getcpuclockid(thread, &clock))
        return 2;
    until(READY);
    pthread_kill(thread, SIGURG);
    until(PAINTED);
    if (with_control) {
        pthread_kill(thread, SIGUSR1);
        pthread_kill(thread, SIGPROF);
    }
    while (cpu_seconds(clock) < seconds)
        usleep(1000);
    atomic_store(&step, ENOUGH);
    pthread_join(thread, NULL);
    printf("stack %ld used %ld\n", stack_size, used);
    return 0;
}
