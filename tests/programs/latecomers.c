/* SPDX-License-Identifier: MIT
 *
 * Threads that begin behind a filter such as Chromium's, which answers EPERM
 * where a timer is made or set, another thread's clock is read, or getrusage is
 * called:
 *     latecomers [THREADS=8] [CPU_MS=20] [WAIT_S=0]
 * Each thread works CPU_MS of its CPU time in `work_late`, in pieces of a
 * hundred microseconds or so with a wait behind each, and then waits for good.
 * The first thread awaits that in poll, waits WAIT_S longer, and ends the
 * process by _exit(5).  Prints nothing.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

NOINLINE uint64_t work_late(uint64_t turns);

uint64_t work_late(uint64_t turns)
{
    return turn(turns);
}

static double cpu_s;
static int done[2]; /* a pipe: a byte of each thread that has worked */

static void *come_late(void *data)
{
    const struct timespec pause = {0, 300000};
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < cpu_s) {
        work_late(20000);
        nanosleep(&pause, NULL);
    }
    if (write(done[1], "", 1) != 1)
        die("write");
    for (;;)
        poll(NULL, 0, -1);
    return data;
}

/* A clock of another thread or process has a negative number. */
static int forbid(void)
{
    const uint32_t number = (uint32_t)offsetof(struct seccomp_data, nr);
    const uint32_t first = (uint32_t)offsetof(struct seccomp_data, args);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_settime, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1U << 31, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
               ? -1
               : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* As Chromium's threads wait. */
static void wait_for(int seconds)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&never, &mutex, &until) == 0)
        continue;
}

int main(int argc, char **argv)
{
    const int threads = (int)argument(argc, argv, 1, 8);
    cpu_s = argument(argc, argv, 2, 20) / 1000;
    const int wait_s = (int)argument(argc, argv, 3, 0);
    struct pollfd until = {.events = POLLIN};
    char byte;
    if (pipe(done) != 0 || forbid() != 0)
        die("forbid");
    until.fd = done[0];
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, come_late, NULL) != 0)
            die("pthread_create");
    }
    for (int left = threads; left > 0;) {
        if (poll(&until, 1, -1) == 1 && read(done[0], &byte, 1) == 1)
            left--;
    }
    if (wait_s > 0)
        wait_for(wait_s);
    _exit(5);
}
