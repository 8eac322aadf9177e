/* SPDX-License-Identifier: MIT
 *
 * Linked around jprof's handler (ld --wrap), it makes a library that adds to
 * $JPROF_TIMED, when the program ends, a line for the process: how many signals
 * were handled, and the median and mean of the handler's CPU time in ns.
 * Runs in: handler; `make bench`. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 20U
#define STEPS 50000U /* to a millisecond; what took longer counts as that */

void __real_jp_handler_sig(int signal, siginfo_t *info, void *context);
void __wrap_jp_handler_sig(int signal, siginfo_t *info, void *context);

static _Atomic uint32_t steps[STEPS];
static _Atomic uint64_t total_ns, handled;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

void __wrap_jp_handler_sig(int signal, siginfo_t *info, void *context)
{
    const uint64_t begun = now_ns();

    __real_jp_handler_sig(signal, info, context);
    const uint64_t taken = now_ns() - begun;
    const uint64_t step = taken / STEP_NS;

    atomic_fetch_add(&steps[step < STEPS ? step : STEPS - 1], 1);
    atomic_fetch_add(&total_ns, taken);
    atomic_fetch_add(&handled, 1);
}

#ifdef TIMED_BLIND
struct jp_walk;
struct jp_walk_frame;
int __wrap_jp_walk_ahead_sig(struct jp_walk *walk, struct jp_walk_frame *frame);

/* Stands for looking ahead: it finds nothing (JP_AHEAD_UNKNOWN). */
int __wrap_jp_walk_ahead_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    (void)walk;
    (void)frame;
    return 0;
}
#endif

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("JPROF_TIMED");
    const uint64_t count = atomic_load(&handled);
    uint64_t below = 0;
    uint32_t step = 0;
    char line[128];

    if (path == NULL || count == 0)
        return;
    while (step < STEPS - 1 && (below += atomic_load(&steps[step])) * 2 < count)
        step++;
    int size = snprintf(line, sizeof(line), "%llu %u %llu\n",
                        (unsigned long long)count, step * STEP_NS,
                        (unsigned long long)(atomic_load(&total_ns) / count));
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, line, (size_t)size) != size)
        perror(path);
    if (fd >= 0)
        close(fd);
}
