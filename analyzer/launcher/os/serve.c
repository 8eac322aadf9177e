/* SPDX-License-Identifier: MIT
 *
 * A server of one file, one request at a time.
 * Runs in: launcher. */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define REQUEST_MAX 8192  /* bytes of a request's head; no browser sends more */
#define WAIT_SECONDS 5    /* for a browser that stops in the middle */
#define LOOK_MS 200       /* between looks at whether the viewer has ended */
#define PATIENCE_MS 60000 /* for a page whose browser has given it to another */
#define BACKLOG 8

static int make_token(char *token)
{
    uint8_t bytes[(JL_SERVE_TOKEN - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return -1;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

int jl_serve_open(struct jl_serve *serve, int file, const char *origin)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    struct stat info;

    *serve = (struct jl_serve){.file = file, .origin = origin};
    serve->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (serve->listener < 0)
        return -1;
    if (fstat(file, &info) != 0 || make_token(serve->token) != 0 ||
        bind(serve->listener, (struct sockaddr *)&address, size) != 0 ||
        listen(serve->listener, BACKLOG) != 0 ||
        getsockname(serve->listener, (struct sockaddr *)&address, &size) != 0) {
        close(serve->listener);
        return -1;
    }
    serve->size = (uint64_t)info.st_size;
    serve->port = ntohs(address.sin_port);
    return 0;
}

/* Whether the other end of the connection is this user's: on loopback it is in
 * the kernel's table of connections, with the user's number (proc(5),
 * /proc/net/tcp: ports in hexadecimal).  The browser's arguments, which anybody
 * may read, have the token. */
static int is_own(int client, const struct jl_serve *serve)
{
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof peer;
    FILE *table = fopen("/proc/net/tcp", "re");
    char line[256];
    unsigned from = 0, to = 0;
    unsigned long user = 0;
    int found = 0;

    if (table == NULL)
        return 0;
    if (getpeername(client, (struct sockaddr *)&peer, &size) == 0)
        while (!found && fgets(line, sizeof line, table))
            found = sscanf(line,
                           " %*d: %*8x:%4x %*8x:%4x %*2x %*8x:%*8x %*2x:%*8x "
                           "%*8x %lu",
                           &from, &to, &user) == 3 &&
                    from == ntohs(peer.sin_port) && to == serve->port;
    fclose(table);
    return found && (user == getuid() || user == 0);
}

/* Reads a request up to the empty line after its head; returns 0, or -1 when
 * it does not come in time. */
static int read_head(int client, char *request)
{
    const int64_t end = jr_now_ms() + 1000 * WAIT_SECONDS;
    size_t used = 0;

    while (used + 1 < REQUEST_MAX) {
        struct pollfd waiting = {.fd = client, .events = POLLIN};
        const int64_t left = end - jr_now_ms();
        ssize_t more;

        if (left <= 0 || poll(&waiting, 1, (int)left) <= 0)
            return -1;
        more = recv(client, request + used, REQUEST_MAX - 1 - used, 0);
        if (more <= 0)
            return -1;
        used += (size_t)more;
        request[used] = '\0';
        if (strstr(request, "\r\n\r\n"))
            return 0;
    }
    return -1;
}

static int send_text(int client, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t sent = send(client, text, left, MSG_NOSIGNAL);

        if (sent <= 0)
            return -1;
        text += sent;
        left -= (size_t)sent;
    }
    return 0;
}

/* The head of an answer; a page of another address may ask for a file here
 * only where the answer names its origin. */
static int send_head(int client, const struct jl_serve *serve,
                     const char *status, uint64_t size)
{
    char head[512];

    snprintf(head, sizeof head,
             "HTTP/1.1 %s\r\nContent-Length: %llu\r\n"
             "Content-Type: application/octet-stream\r\n"
             "Access-Control-Allow-Origin: %s\r\n"
             "Access-Control-Allow-Methods: GET\r\n"
             "Access-Control-Allow-Private-Network: true\r\n"
             "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
             status, (unsigned long long)size, serve->origin);
    return send_text(client, head);
}

static void send_file(int client, struct jl_serve *serve)
{
    off_t at = 0;

    if (send_head(client, serve, "200 OK", serve->size) != 0)
        return;
    while ((uint64_t)at < serve->size)
        if (sendfile(client, serve->file, &at,
                     (size_t)serve->size - (size_t)at) <= 0)
            return;
    serve->sent++;
}

/* Whether a request is one by `method` for the file. */
static int asks(const struct jl_serve *serve, const char *request,
                const char *method)
{
    char line[JL_SERVE_TOKEN + 16];

    snprintf(line, sizeof line, "%s /%s ", method, serve->token);
    return strncmp(request, line, strlen(line)) == 0;
}

static void answer(int client, struct jl_serve *serve)
{
    const struct timeval wait = {.tv_sec = WAIT_SECONDS};
    char request[REQUEST_MAX];

    if (setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0 ||
        setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) != 0 ||
        !is_own(client, serve) || read_head(client, request) != 0)
        return;
    if (asks(serve, request, "GET"))
        send_file(client, serve);
    else
        (void)send_head(client, serve,
                        asks(serve, request, "OPTIONS") ? "204 No Content"
                                                        : "404 Not Found",
                        0);
}

/* Whether the viewer has ended; *status as by a shell. */
static int has_ended(pid_t viewer, int *status)
{
    int how;

    if (waitpid(viewer, &how, WNOHANG) != viewer)
        return 0;
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return 1;
}

int jl_serve_run(struct jl_serve *serve, pid_t viewer)
{
    int64_t until = INT64_MAX;
    int ended = 0, status = 0;

    while (!(ended && (serve->sent > 0 || status != 0)) &&
           jr_now_ms() < until) {
        struct pollfd waiting = {.fd = serve->listener, .events = POLLIN};
        int client = -1;

        if (poll(&waiting, 1, LOOK_MS) > 0)
            client = accept4(serve->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0) {
            answer(client, serve);
            (void)shutdown(client, SHUT_WR);
            close(client);
        }
        if (!ended && has_ended(viewer, &status)) {
            ended = 1;
            until = jr_now_ms() + PATIENCE_MS;
        }
    }
    close(serve->listener);
    return status;
}
