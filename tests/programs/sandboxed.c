/* SPDX-License-Identifier: MIT
 *
 * Shuts itself in and goes on working:
 *     sandboxed HOW [CPU_SECONDS=0.5] [THREADS=0] [TIMES=1]
 * HOW: strict (SECCOMP_MODE_STRICT; ends by the bare exit system call); kill
 * (a filter that kills the process on everything but read, write, exit,
 * exit_group and rt_sigreturn, by prctl); tsync (the same by seccomp(2) for
 * all threads); final, final-tsync (as kill and tsync, but no handler can
 * return any more, as sshd has it); errno (a filter that answers EPERM to all
 * but those); timers, waiters (one that answers EPERM where a timer is made or
 * set);
 * twice (one that kills the process there, then kill); unread (one that answers
 * EPERM where memory is asked for; a thread protects memory all the time);
 * chroot (into an empty
 * folder), setuid, closefrom, chain (all of the last three, then kill).  Before
 * it, it works CPU_SECONDS in `before`, behind it TIMES as much in `behind`;
 * further threads work all the time.  With waiters they wait all the time in
 * `pause_for_good`.  With timers they begin behind it instead,
 * work as much as the first thread in `in_thread`, with waits between, and are
 * awaited.  Prints `before`, then `behind`; exit status 5.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

NOINLINE uint64_t before(uint64_t turns);
NOINLINE uint64_t behind(uint64_t turns);
NOINLINE uint64_t in_thread(uint64_t turns);
NOINLINE void *pause_for_good(void *data);

uint64_t before(uint64_t turns)
{
    return turn(turns);
}

uint64_t behind(uint64_t turns)
{
    return turn(turns);
}

uint64_t in_thread(uint64_t turns)
{
    return turn(turns);
}

/* A thread that begins behind a filter: *data rounds of work, each in some
 * hundred microseconds, with a wait behind each. */
static void *work_and_wait(void *data)
{
    const struct timespec pause = {0, 100000};
    for (uint64_t i = 0; i < *(const uint64_t *)data; i++) {
        in_thread(200000);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Has `count` such threads work, and awaits them. */
static void work_in_threads(int count, uint64_t *rounds)
{
    pthread_t threads[16];
    for (int i = 0; i < count; i++) {
        if (i == 16 ||
            pthread_create(&threads[i], NULL, work_and_wait, rounds) != 0)
            die("pthread_create");
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

void *pause_for_good(void *data)
{
    for (;;)
        pause();
    return data;
}

static void *work(void *data)
{
    for (;;)
        before(200000);
    return data;
}

/* What the filter lets pass besides read, write, exit and exit_group. */
static uint32_t besides = SYS_rt_sigreturn;

static int filter(uint32_t otherwise, int tsync)
{
    const uint32_t number = (uint32_t)offsetof(struct seccomp_data, nr);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, besides, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, otherwise),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    if (tsync)
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                            SECCOMP_FILTER_FLAG_TSYNC, &program);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A filter against two system calls. */
static int forbid(uint32_t one, uint32_t other, uint32_t answer)
{
    const uint32_t number = (uint32_t)offsetof(struct seccomp_data, nr);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
               ? -1
               : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int forbid_timers(uint32_t answer)
{
    return forbid(SYS_timer_create, SYS_timer_settime, answer);
}

/* A thread that takes the right to write to much memory and gives it back. */
static void *protect(void *data)
{
    const size_t size = 32 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap");
    for (;;) {
        mprotect(memory, size, PROT_READ);
        mprotect(memory, size, PROT_READ | PROT_WRITE);
    }
    return data;
}

static int forbid_to_read(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, protect, NULL) != 0
               ? -1
               : forbid(SYS_process_vm_readv, SYS_openat,
                        SECCOMP_RET_ERRNO | EPERM);
}

static int into_chroot(void)
{
    char folder[] = "sandbox-XXXXXX";
    return mkdtemp(folder) == NULL || chroot(folder) != 0 ? -1 : chdir("/");
}

static int shut_in(const char *how)
{
    if (strcmp(how, "strict") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (strncmp(how, "final", 5) == 0) {
        besides = SYS_exit;
        return filter(SECCOMP_RET_KILL_PROCESS, how[5] != '\0');
    }
    if (strcmp(how, "kill") == 0)
        return filter(SECCOMP_RET_KILL_PROCESS, 0);
    if (strcmp(how, "tsync") == 0)
        return filter(SECCOMP_RET_KILL_PROCESS, 1);
    if (strcmp(how, "errno") == 0)
        return filter(SECCOMP_RET_ERRNO | EPERM, 0);
    if (strcmp(how, "timers") == 0 || strcmp(how, "waiters") == 0)
        return forbid_timers(SECCOMP_RET_ERRNO | EPERM);
    if (strcmp(how, "unread") == 0)
        return forbid_to_read();
    if (strcmp(how, "twice") == 0)
        return forbid_timers(SECCOMP_RET_KILL_PROCESS) != 0
                   ? -1
                   : filter(SECCOMP_RET_KILL_PROCESS, 0);
    if (strcmp(how, "chroot") == 0)
        return into_chroot();
    if (strcmp(how, "setuid") == 0)
        return setuid(65534);
    closefrom(3);
    if (strcmp(how, "closefrom") == 0)
        return 0;
    return into_chroot() != 0 || setuid(65534) != 0
               ? -1
               : filter(SECCOMP_RET_KILL_PROCESS, 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "kill";
    double seconds = argument(argc, argv, 2, 0.5);
    int threads = (int)argument(argc, argv, 3, 0);
    uint64_t times = (uint64_t)argument(argc, argv, 4, 1);
    const int later = strcmp(how, "timers") == 0;
    const int wait = strcmp(how, "waiters") == 0;
    /* What exec and the loader used is not for `before`. */
    const double begun = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t turns = 0;
    pthread_t thread;
    for (int i = 0; i < threads && !later; i++) {
        if (pthread_create(&thread, NULL, wait ? pause_for_good : work, NULL) !=
            0)
            die("pthread_create");
    }
    for (; cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begun < seconds; turns++)
        before(200000);
    if (write(1, "before\n", 7) != 7 || shut_in(how) != 0)
        die(how);
    /* By turns, not by time: the clock of the thread may be forbidden. */
    for (uint64_t i = 0; i < turns * times; i++)
        behind(200000);
    if (later)
        work_in_threads(threads, &turns);
    if (write(1, "behind\n", 7) != 7)
        return 1;
    if (strcmp(how, "strict") == 0)
        syscall(SYS_exit, 5);
    return 5;
}
