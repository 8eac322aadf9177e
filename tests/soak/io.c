/* SPDX-License-Identifier: MIT
 *
 * The storm: calls that wait.  No handler of the program's comes to these
 * threads, so none may end early.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "storm.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BYTES (256 << 10)
#define WAIT_MS 3

struct stream {
    int fd;
    unsigned char first;
    int failed;
};

static void fill(unsigned char *bytes, unsigned char first)
{
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(first + i * 7);
}

/* Blocking writes are whole.  Were one not, the reader sees the end. */
static void *writer(void *data)
{
    struct stream *stream = data;
    unsigned char *bytes = malloc(BYTES);
    fill(bytes, stream->first);
    stream->failed = write(stream->fd, bytes, BYTES) != BYTES;
    free(bytes);
    close(stream->fd);
    return NULL;
}

static int same(int fd, unsigned char first)
{
    unsigned char *bytes = malloc(BYTES), *wanted = malloc(BYTES);
    size_t done = 0;
    ssize_t got = 1;
    while (done < BYTES && got > 0) {
        got = read(fd, bytes + done, BYTES - done);
        if (got > 0)
            done += (size_t)got;
    }
    fill(wanted, first);
    const int result = done == BYTES && memcmp(bytes, wanted, BYTES) == 0;
    free(bytes);
    free(wanted);
    return result;
}

static void transfer(struct storm_activity *self, int from, int to)
{
    struct stream stream = {to, (unsigned char)self->rounds, 0};
    pthread_t thread;
    STORM_CHECK(self, pthread_create(&thread, NULL, writer, &stream) == 0);
    STORM_CHECK(self, same(from, stream.first));
    STORM_CHECK(self, pthread_join(thread, NULL) == 0 && !stream.failed);
    close(from);
}

static void pipes(struct storm_activity *self)
{
    int fds[2];
    STORM_CHECK(self, pipe2(fds, O_CLOEXEC) == 0);
    transfer(self, fds[0], fds[1]);
}

static void pairs(struct storm_activity *self)
{
    int fds[2];
    STORM_CHECK(self,
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    transfer(self, fds[0], fds[1]);
}

static void connections(struct storm_activity *self)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    STORM_CHECK(self, bind(listener, (struct sockaddr *)&address, size) == 0 &&
                          listen(listener, 1) == 0 &&
                          getsockname(listener, (struct sockaddr *)&address,
                                      &size) == 0);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    STORM_CHECK(self, connect(client, (struct sockaddr *)&address, size) == 0);
    const int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    STORM_CHECK(self, server >= 0);
    close(listener);
    transfer(self, server, client);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* They time out, at their time and not before. */
static void timeouts(struct storm_activity *self)
{
    int fds[2];
    fd_set set;
    struct epoll_event event = {.events = EPOLLIN};
    STORM_CHECK(self, pipe2(fds, O_CLOEXEC) == 0);
    struct pollfd one = {fds[0], POLLIN, 0};
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    STORM_CHECK(self, epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event) == 0);
    double start = now();
    STORM_CHECK(self, poll(&one, 1, WAIT_MS) == 0);
    STORM_CHECK(self, now() - start >= WAIT_MS / 1e3);
    start = now();
    STORM_CHECK(self, epoll_wait(epoll, &event, 1, WAIT_MS) == 0);
    STORM_CHECK(self, now() - start >= WAIT_MS / 1e3);
    FD_ZERO(&set);
    FD_SET(fds[0], &set);
    struct timeval limit = {0, WAIT_MS * 1000};
    start = now();
    STORM_CHECK(self, select(fds[0] + 1, &set, NULL, NULL, &limit) == 0);
    STORM_CHECK(self, now() - start >= WAIT_MS / 1e3);
    const struct timespec pause = {0, WAIT_MS * 1000000};
    start = now();
    STORM_CHECK(self, nanosleep(&pause, NULL) == 0);
    STORM_CHECK(self, now() - start >= WAIT_MS / 1e3);
    close(epoll);
    close(fds[0]);
    close(fds[1]);
}

struct storm_activity storm_io[] = {
    {"pipes", pipes, 2000, 0, 0},
    {"pairs", pairs, 2000, 0, 0},
    {"connections", connections, 2000, 0, 0},
    {"timeouts", timeouts, 500, 0, 0},
    {NULL, NULL, 0, 0, 0},
};
