/* SPDX-License-Identifier: MIT
 *
 *     lastfd SECONDS HELD
 * Takes every descriptor that it may open, and burns SECONDS of CPU time;
 * another thread gives one of them back HELD seconds after the beginning (never
 * where HELD is negative).  Prints `cpu CPU_SECONDS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <pthread.h>

static double held;
static int last = -1;

static void *give_back(void *none)
{
    struct timespec left = {(time_t)held, (long)((held - (time_t)held) * 1e9)};
    while (nanosleep(&left, &left) != 0)
        continue;
    close(last);
    return none;
}

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 1, 0.3);
    pthread_t thread;
    held = argument(argc, argv, 2, -1);
    for (int fd = 0; fd >= 0;) {
        last = fd;
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (held >= 0 && pthread_create(&thread, NULL, give_back, NULL) != 0)
        return 1;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        turn(100000);
    if (held >= 0)
        pthread_join(thread, NULL);
    printf("cpu %.3f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
