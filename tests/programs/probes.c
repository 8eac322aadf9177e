/* SPDX-License-Identifier: MIT
 *
 * Asks about seccomp in every way that installs nothing, and has installations
 * fail; prints result and error of each, works SECONDS of CPU time in between
 * each two and ends with 5:
 *     probes [SECONDS_EACH=0.02]
 * Needs no privilege; some of what fails here fails for want of
 * PR_SET_NO_NEW_PRIVS, which root has no need of (CAP_SYS_ADMIN), so that is
 * given up first.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static double seconds;

NOINLINE uint64_t asked(uint64_t turns);

uint64_t asked(uint64_t turns)
{
    return turn(turns);
}

static void say(const char *what, long result)
{
    const int error = errno;
    printf("%s %d %d\n", what, result < 0 ? -1 : result > 0,
           result < 0 ? error : 0);
    const double until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        asked(20000);
}

static long by_prctl(unsigned long mode, const void *program)
{
    return prctl(PR_SET_SECCOMP, mode, program, 0L, 0L);
}

static long seccomp(unsigned long what, unsigned long flags,
                    const void *argument)
{
    return syscall(SYS_seccomp, what, flags, argument);
}

/* The kernel lets nobody filter who may gain privileges. */
static void give_up(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
    if (syscall(SYS_capset, &header, data) != 0)
        die("capset");
}

/* Has a filter of its own: threads that another one is for cannot follow. */
static void *apart(void *data)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {1, &allow};
    int *const *pipes = data;
    char byte = 0;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (by_prctl(SECCOMP_MODE_FILTER, &program) != 0)
        byte = 1;
    if (write(pipes[0][1], &byte, 1) != 1 || read(pipes[1][0], &byte, 1) != 1)
        return data;
    return NULL;
}

static void fail_for_all(const struct sock_fprog *program)
{
    int there[2], back[2], *pipes[2] = {there, back};
    char byte = 1;
    pthread_t thread = 0;
    if (pipe(there) != 0 || pipe(back) != 0 ||
        pthread_create(&thread, NULL, apart, pipes) != 0 ||
        read(there[0], &byte, 1) != 1 || byte != 0)
        die("the other thread");
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    say("tsync",
        seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program));
    if (write(back[1], &byte, 1) != 1)
        die("write");
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    /* What would be hard on whoever took it for installed. */
    struct sock_filter kill =
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_filter none = {0xffff, 0, 0, 0};
    const struct sock_fprog lethal = {1, &kill}, wrong = {1, &none};
    const struct sock_fprog empty = {0, &kill}, nowhere = {1, NULL};
    const uint32_t action = SECCOMP_RET_KILL_PROCESS, odd = 0x12345678;
    char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    seconds = argument(argc, argv, 1, 0.02);
    if (edge == MAP_FAILED || mprotect(edge + 4096, 4096, PROT_NONE) != 0)
        die("mmap");
    give_up();
    say("null", by_prctl(SECCOMP_MODE_FILTER, NULL));
    say("low", by_prctl(SECCOMP_MODE_FILTER, (void *)8));
    say("high", by_prctl(SECCOMP_MODE_FILTER, (void *)-1L));
    say("edge", by_prctl(SECCOMP_MODE_FILTER, edge + 4090));
    say("nowhere", by_prctl(SECCOMP_MODE_FILTER, &nowhere));
    say("empty", by_prctl(SECCOMP_MODE_FILTER, &empty));
    say("mode 0", by_prctl(0, NULL));
    say("mode 3", by_prctl(3, &lethal));
    say("get", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
    say("call null", seccomp(SECCOMP_SET_MODE_FILTER, 0, NULL));
    say("call tsync null",
        seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL));
    say("call flags", seccomp(SECCOMP_SET_MODE_FILTER, 1UL << 30, &lethal));
    say("call strict flags", seccomp(SECCOMP_SET_MODE_STRICT, 1, NULL));
    say("call strict argument", seccomp(SECCOMP_SET_MODE_STRICT, 0, edge));
    say("action", seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action));
    say("odd action", seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &odd));
    say("sizes", seccomp(SECCOMP_GET_NOTIF_SIZES, 0, edge));
    say("call prctl",
        syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0L, 0L, 0L));
    say("not allowed", by_prctl(SECCOMP_MODE_FILTER, &lethal));
    fail_for_all(&lethal);
    say("wrong", by_prctl(SECCOMP_MODE_FILTER, &wrong));
    /* The strict mode is not to be had behind a filter. */
    kill.k = SECCOMP_RET_ALLOW;
    say("harmless", by_prctl(SECCOMP_MODE_FILTER, &lethal));
    say("strict", by_prctl(SECCOMP_MODE_STRICT, NULL));
    return 5;
}
