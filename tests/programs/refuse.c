/* SPDX-License-Identifier: MIT
 *
 * Runs a program where the kernel refuses something, by a seccomp filter,
 * which exec keeps: what is to be found on older kernels, on other file
 * systems and in containers.
 * Runs in: tests.
 *
 * refuse WHAT PROGRAM [ARGUMENT...]
 * WHAT: a name of the table below, or NUMBER/ERRNO, a system call and what it
 * is answered with, always. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The request of struct procmap_query, 104 bytes (uapi linux/fs.h). */
#define QUERY _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 104)

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))

/* argument: what the call's second one must be; 0: anything.  spared: with
 * that as its first one the call is allowed; 0: none is. */
static const struct refusal {
    const char *name;
    uint32_t number, argument, error, spared;
} refusals[] = {
    {"procmap-query", SYS_ioctl, (uint32_t)QUERY, ENOTTY, 0},
    {"fallocate", SYS_fallocate, 0, EOPNOTSUPP, 0},
    {"process-vm-readv", SYS_process_vm_readv, 0, EPERM, 0},
    {"linkat", SYS_linkat, 0, EXDEV, 0},
    {"quota", SYS_fallocate, 0, EDQUOT, 0},
    {"timer-create", SYS_timer_create, 0, EAGAIN, 0},
    {"thread-timers", SYS_timer_create, 0, EAGAIN, CLOCK_PROCESS_CPUTIME_ID},
    {"perf-event-open", SYS_perf_event_open, 0, EACCES, 0},
};

static int install(const struct refusal *refusal)
{
    const uint32_t no_argument = refusal->argument == 0;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusal->number, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                 refusal->spared != 0 ? refusal->spared : UINT32_MAX, 4, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 no_argument ? FIELD(nr) : FIELD(args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                 no_argument ? refusal->number : refusal->argument, 0, 2),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | refusal->error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]),
                                       filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int find(const char *what, struct refusal *refusal)
{
    char *slash;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (strcmp(refusals[i].name, what) == 0) {
            *refusal = refusals[i];
            return 1;
        }
    }
    *refusal = (struct refusal){what, (uint32_t)strtoul(what, &slash, 10), 0,
                                0, 0};
    if (slash == what || *slash != '/')
        return 0;
    refusal->error = (uint32_t)strtoul(slash + 1, NULL, 10);
    return 1;
}

int main(int argc, char **argv)
{
    struct refusal refusal;
    if (argc < 3 || !find(argv[1], &refusal))
        return 64;
    if (!install(&refusal)) {
        perror("refuse");
        return 2;
    }
    /* What is to be preloaded into the program, but not into this one. */
    if (getenv("REFUSE_PRELOAD") != NULL)
        setenv("LD_PRELOAD", getenv("REFUSE_PRELOAD"), 1);
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
