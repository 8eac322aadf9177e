/* SPDX-License-Identifier: MIT
 *
 * Two threads send each other short messages over a blocking socket, and read
 * them with room for more, as servers and clients do.  Prints the CPU time that
 * a message took, in microseconds.
 * Runs in: tests. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

#define MESSAGES 400
#define ROOM 2048

static void *answer(void *data)
{
    const int fd = *(int *)data;
    char text[ROOM];
    ssize_t size;

    while ((size = read(fd, text, sizeof(text))) > 0)
        if (write(fd, text, (size_t)size) != size)
            break;
    return NULL;
}

int main(void)
{
    static const char message[] = "a message";
    char text[ROOM];
    pthread_t thread;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        pthread_create(&thread, NULL, answer, &ends[1]) != 0)
        return 2;
    for (int i = 0; i < MESSAGES; i++)
        if (write(ends[0], message, sizeof(message)) != sizeof(message) ||
            read(ends[0], text, sizeof(text)) != sizeof(message) ||
            memcmp(text, message, sizeof(message)) != 0)
            return 1;
    shutdown(ends[0], SHUT_WR);
    pthread_join(thread, NULL);
    printf("%.1f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e6 / MESSAGES);
    return 0;
}
