/* SPDX-License-Identifier: MIT
 *
 * Signals of the program's that come to a thread in a blocking call, at any
 * moment of it:
 *     cutoff read|wait|lock [ROUNDS=2000]
 * The handler is installed without SA_RESTART: each signal ends a call, with
 * EINTR.  The thread is in the call when the signal is sent: the kernel says
 * so.  Stops at the first that goes on; prints `rounds N missed N`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* After so long, a call that a signal should have ended is ended. */
#define PATIENCE_MS 10000

static int quiet[2], held, other;
static pid_t child, tid;
static _Atomic int round_begun, round_done, handled;
static int rounds;

static void handler(int number)
{
    (void)number;
    handled++;
}

static long call_read(void)
{
    char byte;
    return read(quiet[0], &byte, 1);
}

static long call_wait(void)
{
    return waitpid(child, NULL, 0);
}

static long call_lock(void)
{
    return flock(other, LOCK_EX);
}

static long (*call)(void);

static void *blocked(void *data)
{
    tid = (pid_t)syscall(SYS_gettid);
    for (int i = 1; i <= rounds; i++) {
        round_begun = i;
        if (call() >= 0 || errno != EINTR)
            break;
        round_done = i;
    }
    return data;
}

/* Whether the thread waits in its system call: /proc/TID/syscall has the
 * number and the arguments then.  (A handler may be in another call.) */
static int is_in_call(void)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    close(fd);
    int first = -1;
    long number = -1;
    return got > 0 && sscanf(text, "%ld %i", &number, &first) == 2 &&
           (number == SYS_read    ? call == call_read && first == quiet[0]
            : number == SYS_wait4 ? call == call_wait
                                  : number == SYS_flock);
}

static void await_call(int number)
{
    while (round_begun < number || round_done >= number || !is_in_call())
        sched_yield();
}

/* Ends the call in another way. */
static void release(void)
{
    if (write(quiet[1], "x", 1) != 1)
        die("write");
    kill(child, SIGKILL);
    flock(held, LOCK_UN);
}

/* Whether a signal ended the call. */
static int cut_off(pthread_t thread, int number)
{
    const int before = handled;
    pthread_kill(thread, SIGUSR2);
    for (int i = 0; round_done < number; i++) {
        if (handled == before || i < PATIENCE_MS) {
            usleep(handled == before ? 50 : i < 20 ? 50 : 1000);
            continue;
        }
        release();
        return 0;
    }
    return 1;
}

static void set_up(const char *name)
{
    char path[] = "cutoff-XXXXXX";
    const struct sigaction action = {.sa_handler = handler};
    if (pipe(quiet) != 0 || (held = mkstemp(path)) < 0 ||
        (other = open(path, O_RDWR)) < 0 || flock(held, LOCK_EX) != 0)
        die("files");
    unlink(path);
    call = strcmp(name, "wait") == 0   ? call_wait
           : strcmp(name, "lock") == 0 ? call_lock
                                       : call_read;
    child = fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    sigaction(SIGUSR2, &action, NULL);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    uint64_t seed = 1;
    rounds = (int)argument(argc, argv, 2, 2000);
    if (argc < 2)
        return 64;
    set_up(argv[1]);
    if (pthread_create(&thread, NULL, blocked, NULL) != 0)
        die("pthread_create");
    int number = 1;
    for (; number <= rounds; number++) {
        await_call(number);
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        turn(seed >> 33 & 0x3ffff);
        if (!cut_off(thread, number))
            break;
    }
    kill(child, SIGKILL);
    printf("rounds %d missed %d\n", number - 1, number <= rounds);
    return 0;
}
