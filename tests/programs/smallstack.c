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
 * With `control`, a pause is sent to the thread as well, and a resume once the
 * pause is carried out.  Prints
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
static pid_t thread_id;

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

/* Waits until the thread has handled all of its signals up to `last`.  A
 * signal that comes while another one of its number is pending is lost. */
static void until_handled(pid_t id, int last)
{
    const uint64_t signals = (1ULL << last) - 1;
    uint64_t waiting = signals;
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)id);
    while (waiting != 0) {
        FILE *status = fopen(path, "re");
        if (status == NULL)
            exit(2);
        for (waiting = 0; fgets(line, sizeof(line), status) != NULL;)
            if (strncmp(line, "SigPnd:", 7) == 0 ||
                strncmp(line, "SigBlk:", 7) == 0)
                waiting |= strtoull(line + 7, NULL, 16) & signals;
        fclose(status);
    }
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
    thread_id = gettid();
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
        until_handled(thread_id, SIGPROF);
        pthread_kill(thread, SIGPROF);
    }
    while (cpu_seconds(clock) < seconds)
        usleep(1000);
    atomic_store(&step, ENOUGH);
    pthread_join(thread, NULL);
    printf("stack %ld used %ld\n", stack_size, used);
    return 0;
}
