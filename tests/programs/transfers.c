/* SPDX-License-Identifier: MIT
 *
 * Reads and writes of megabytes at a time through a pipe and a socket, on the
 * other end of which a slow thread works, and from a device.  Prints how much
 * of each came through in one call, and whether it is what was sent.  Then
 * receives that are to end before all has come.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define SIZE (2U << 20)
#define SLICE 16384U

static unsigned char sent[SIZE], received[SIZE];
static int channel[2];

/* Takes it all, a slice at a time. */
static void *reader(void *unused)
{
    size_t done = 0;
    while (done < SIZE) {
        ssize_t got = read(channel[0], received + done, SLICE);
        if (got <= 0)
            break;
        done += (size_t)got;
        usleep(1000);
    }
    return unused;
}

static void *writer(void *unused)
{
    for (size_t done = 0; done < SIZE; done += SLICE) {
        if (write(channel[1], sent + done, SLICE) != SLICE)
            die("write");
        usleep(1000);
    }
    return unused;
}

static ssize_t by_write(void)
{
    return write(channel[1], sent, SIZE);
}

/* Parts of all sizes, empty ones among them. */
static int cut(struct iovec *parts, unsigned char *data)
{
    size_t at = 0;
    int count = 0;
    for (size_t size = 0; at < SIZE; size = size * 3 + 1000 * (count % 3)) {
        size_t length = size < SIZE - at ? size : SIZE - at;
        parts[count++] = (struct iovec){data + at, length};
        at += length;
    }
    return count;
}

static ssize_t by_writev(void)
{
    struct iovec parts[64];
    return writev(channel[1], parts, cut(parts, sent));
}

static ssize_t by_send(void)
{
    return send(channel[1], sent, SIZE, 0);
}

static ssize_t by_sendto(void)
{
    return sendto(channel[1], sent, SIZE, 0, NULL, 0);
}

static ssize_t by_sendmsg(void)
{
    struct iovec parts[64];
    struct msghdr message = {.msg_iov = parts};
    message.msg_iovlen = (size_t)cut(parts, sent);
    return sendmsg(channel[1], &message, 0);
}

static ssize_t by_recv(void)
{
    return recv(channel[0], received, SIZE, MSG_WAITALL);
}

static ssize_t by_recvfrom(void)
{
    return recvfrom(channel[0], received, SIZE, MSG_WAITALL, NULL, NULL);
}

/* With room for a descriptor; says what the kernel said. */
static ssize_t by_recvmsg(void)
{
    struct iovec parts[64];
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = parts,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    message.msg_iovlen = (size_t)cut(parts, received);
    ssize_t result = recvmsg(channel[0], &message, MSG_WAITALL);
    printf("flags %x control %zu ", (unsigned)message.msg_flags,
           message.msg_controllen);
    return result;
}

/* Whether there is no more to come, and it was the same. */
static void one(const char *name, ssize_t (*call)(void), void *(*other)(void *),
                int is_socket)
{
    pthread_t thread;
    memset(received, 0, SIZE);
    if ((is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, channel)
                   : pipe(channel)) != 0)
        die("channel");
    pthread_create(&thread, NULL, other, NULL);
    ssize_t result = call();
    if (other == reader)
        close(channel[1]);
    pthread_join(thread, NULL);
    printf("%s: %zd %s %s\n", name, result,
           result == (ssize_t)SIZE ? "whole" : "short",
           memcmp(sent, received, SIZE) == 0 ? "same" : "other");
    close(channel[0]);
    if (other != reader)
        close(channel[1]);
}

/* A slice with a descriptor: a receive ends with it (unix(7)). */
static void send_descriptor(void)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {sent, SLICE};
    const struct msghdr message = {.msg_iov = &part,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof(control)};
    memcpy(CMSG_DATA(&control.header), &channel[1], sizeof(int));
    if (sendmsg(channel[1], &message, 0) != SLICE)
        die("sendmsg");
}

static void *descriptor_sender(void *unused)
{
    for (int i = 0; i < 72; i++) {
        if (i == 70)
            send_descriptor();
        else if (write(channel[1], sent, SLICE) != SLICE)
            die("write");
        usleep(1000);
    }
    return unused;
}

/* Datagrams come one by one, whatever the flags. */
static void *datagram_sender(void *unused)
{
    for (int i = 1; i <= 2; i++) {
        usleep(50000);
        if (write(channel[1], sent, 1000) != 1000)
            die("write");
    }
    return unused;
}

static void ending(const char *name, int type, ssize_t (*call)(void),
                   void *(*other)(void *))
{
    pthread_t thread;
    if (socketpair(AF_UNIX, type, 0, channel) != 0)
        die("channel");
    pthread_create(&thread, NULL, other, NULL);
    printf("%s: ", name);
    printf("%zd\n", call());
    pthread_join(thread, NULL);
    close(channel[0]);
    close(channel[1]);
}

static void device(const char *path)
{
    const size_t size = 256U << 20;
    char *memory = malloc(size);
    int fd = open(path, O_RDONLY);
    ssize_t result = read(fd, memory, size);
    printf("%s: %s\n", path, result == (ssize_t)size ? "whole" : "short");
    close(fd);
    free(memory);
}

static void nothing(int number)
{
    (void)number;
}

static void *interrupter(void *thread)
{
    usleep(50000);
    pthread_kill(*(pthread_t *)thread, SIGWINCH);
    return NULL;
}

/* Takes the kernel the better part of a second.  A signal of the program's
 * ends it. */
static void random_bytes(void)
{
    const size_t size = 256U << 20;
    const struct sigaction action = {.sa_handler = nothing,
                                     .sa_flags = SA_RESTART};
    pthread_t self = pthread_self(), other;
    char *memory = malloc(size);
    ssize_t result = getrandom(memory, size, 0);
    printf("getrandom: %s\n", result == (ssize_t)size ? "whole" : "short");
    sigaction(SIGWINCH, &action, NULL);
    pthread_create(&other, NULL, interrupter, &self);
    result = getrandom(memory, size, 0);
    printf("getrandom, interrupted: %s\n",
           result > 0 && result < (ssize_t)size ? "ended" : "whole");
    pthread_join(other, NULL);
    free(memory);
}

/* A pipe that cannot take it all says so at once. */
static void without_waiting(void)
{
    if (pipe2(channel, O_NONBLOCK) != 0)
        die("pipe2");
    printf("without waiting: %d\n", write(channel[1], sent, SIZE) > 0);
    printf("then: %d\n", write(channel[1], sent, SIZE) < 0 && errno == EAGAIN);
}

int main(void)
{
    uint32_t value = 1;
    for (size_t i = 0; i < SIZE; i++) {
        value = value * 1664525 + 1013904223;
        sent[i] = (unsigned char)(value >> 24);
    }
    one("write", by_write, reader, 0);
    one("writev", by_writev, reader, 0);
    one("send", by_send, reader, 1);
    one("sendto", by_sendto, reader, 1);
    one("sendmsg", by_sendmsg, reader, 1);
    one("write to a socket", by_write, reader, 1);
    one("recv", by_recv, writer, 1);
    one("recvfrom", by_recvfrom, writer, 1);
    one("recvmsg", by_recvmsg, writer, 1);
    ending("with a descriptor", SOCK_STREAM, by_recvmsg, descriptor_sender);
    ending("recv of a datagram", SOCK_DGRAM, by_recv, datagram_sender);
    ending("recvmsg of one", SOCK_DGRAM, by_recvmsg, datagram_sender);
    device("/dev/zero");
    random_bytes();
    without_waiting();
    return 0;
}
