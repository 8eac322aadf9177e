/* SPDX-License-Identifier: MIT
 *
 * A server whose requests wait for a lock, for a database (Redis, a query that
 * takes QUERY seconds) and in a sleep:
 *     requests WORKERS SECONDS PORT [hang]
 * Prints `truth TID FUNCTION WALL CPU` for each worker and wait, in seconds.
 * With `hang` the lock is kept for ever after SECONDS: prints `hangs TIME`, of
 * CLOCK_MONOTONIC, and goes on until it is killed.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define MOST_WORKERS 512
#define QUERY "BLPOP nothing 0.05\r\n"
#define ANSWER "*-1\r\n"
#define HELD_MS 30 /* by another, after each FREE_MS */
#define FREE_MS 10
#define SLEEP_S 0.02

struct truth {
    const char *function;
    double wall, cpu;
};

static double seconds, end;
static int port;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready; /* all are connected, and know the end */

static void rest(double time)
{
    struct timespec left = {(time_t)time,
                            (long)((time - (double)(time_t)time) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

NOINLINE void take_lock(int database);
NOINLINE void ask_database(int database);
NOINLINE void back_off(int database);

void take_lock(int database)
{
    (void)database;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    BARRIER();
}

void ask_database(int database)
{
    char answer[sizeof(ANSWER)];
    size_t got = 0;
    if (send(database, QUERY, sizeof(QUERY) - 1, MSG_NOSIGNAL) !=
        sizeof(QUERY) - 1)
        die("send");
    while (got < sizeof(ANSWER) - 1) {
        const ssize_t more =
            recv(database, answer + got, sizeof(ANSWER) - 1 - got, 0);
        if (more <= 0)
            die("recv");
        got += (size_t)more;
    }
    if (memcmp(answer, ANSWER, got) != 0)
        die("answer");
}

void back_off(int database)
{
    (void)database;
    rest(SLEEP_S);
    BARRIER();
}

static int connect_database(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port)};
    const int database = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (database < 0 ||
        connect(database, (struct sockaddr *)&address, sizeof(address)) != 0)
        die("connect");
    return database;
}

static void timed(struct truth *truth, void (*function)(int), int database)
{
    const double start = cpu_seconds(CLOCK_MONOTONIC);
    const double used = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    function(database);
    truth->wall += cpu_seconds(CLOCK_MONOTONIC) - start;
    truth->cpu += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - used;
}

static void *serve(void *data)
{
    static void (*const functions[])(int) = {take_lock, ask_database, back_off};
    struct truth truths[] = {
        {"take_lock", 0, 0}, {"ask_database", 0, 0}, {"back_off", 0, 0}};
    const int database = connect_database();
    pthread_barrier_wait(&ready);
    while (cpu_seconds(CLOCK_MONOTONIC) < end)
        for (int i = 0; i < 3; i++)
            timed(&truths[i], functions[i], database);
    for (int i = 0; i < 3; i++)
        printf("truth %d %s %.6f %.6f\n", (int)syscall(SYS_gettid),
               truths[i].function, truths[i].wall, truths[i].cpu);
    close(database);
    return data;
}

/* Has the lock most of the time; returns with it at the end. */
static void keep_lock(int hang)
{
    while (cpu_seconds(CLOCK_MONOTONIC) < end - (hang ? 1 : 0)) {
        pthread_mutex_lock(&lock);
        poll(NULL, 0, HELD_MS);
        pthread_mutex_unlock(&lock);
        poll(NULL, 0, FREE_MS);
    }
    if (!hang)
        return;
    pthread_mutex_lock(&lock);
    printf("hangs %.6f\n", cpu_seconds(CLOCK_MONOTONIC));
    fflush(stdout);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    static pthread_t threads[MOST_WORKERS];
    const int workers = (int)argument(argc, argv, 1, 8);
    pthread_attr_t small;
    seconds = argument(argc, argv, 2, 5);
    port = (int)argument(argc, argv, 3, 6379);
    if (workers < 1 || workers > MOST_WORKERS ||
        pthread_barrier_init(&ready, NULL, (unsigned)workers + 1) != 0 ||
        pthread_attr_init(&small) != 0 ||
        pthread_attr_setstacksize(&small, 256 << 10) != 0)
        die("requests");
    for (int i = 0; i < workers; i++)
        if (pthread_create(&threads[i], &small, serve, NULL) != 0)
            die("pthread_create");
    end = cpu_seconds(CLOCK_MONOTONIC) + seconds;
    pthread_barrier_wait(&ready);
    keep_lock(argc > 4);
    for (int i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
