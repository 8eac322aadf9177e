/* SPDX-License-Identifier: MIT
 *
 * Blocking writes that end before all is written, though no signal came: the
 * reader closes its end of a socket or pipe, or the time-out of the socket is
 * over.  Prints the CPU time that a write took, in microseconds.
 * Runs in: tests. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common.h"

#define ROUNDS 8
#define SIZE (1U << 20)

static const char data[SIZE];

static void *hang_up(void *end)
{
    const int fd = *(int *)end;
    struct pollfd one = {fd, POLLIN, 0};
    poll(&one, 1, -1);
    usleep(2000); /* The writer waits for room by then. */
    close(fd);
    return NULL;
}

static ssize_t to_who_hangs_up(const int ends[2])
{
    pthread_t reader;
    int end = ends[0];
    if (pthread_create(&reader, NULL, hang_up, &end) != 0)
        die("pthread_create");
    const ssize_t done = write(ends[1], data, SIZE);
    pthread_join(reader, NULL);
    close(ends[1]);
    return done;
}

static ssize_t within_time(const int ends[2])
{
    const struct timeval time = {0, 20000};
    setsockopt(ends[1], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
    const ssize_t done = send(ends[1], data, SIZE, 0);
    close(ends[0]);
    close(ends[1]);
    return done;
}

static void *rest(void *unused)
{
    pause();
    return unused;
}

int main(void)
{
    pthread_t other;
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    if (pthread_create(&other, NULL, rest, NULL) != 0)
        return 2;
    for (int i = 0; i < ROUNDS; i++) {
        ssize_t done[3] = {0};
        if (pipe(ends) == 0)
            done[0] = to_who_hangs_up(ends);
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
            done[1] = to_who_hangs_up(ends);
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
            done[2] = within_time(ends);
        for (int j = 0; j < 3; j++)
            if (done[j] <= 0 || done[j] >= (ssize_t)SIZE)
                return 1;
    }
    printf("%.1f\n",
           cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e6 / (3 * ROUNDS));
    return 0;
}
