/* SPDX-License-Identifier: MIT
 *
 * Runs a program where the kernel refuses something, by a seccomp filter,
 * which exec keeps: what is to be found on older kernels, on other file
 * systems and in containers.
 * Runs in: tests.
 *
 * refuse WHAT[,WHAT...] PROGRAM [ARGUMENT...]
 * WHAT: a name of the table below, or NUMBER/ERRNO, a system call and what it
 * is answered with, always, or NUMBER-/ERRNO, it and all behind it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
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
 * that as its first one the call is allowed; 0: none is.  bits: what the first
 * one must have any of; 0: nothing.  and_later: all calls from number on. */
static const struct refusal {
    const char *name;
    uint32_t number, argument, error, spared, bits, and_later;
} refusals[] = {
    {"procmap-query", SYS_ioctl, (uint32_t)QUERY, ENOTTY, 0, 0, 0},
    {"fallocate", SYS_fallocate, 0, EOPNOTSUPP, 0, 0, 0},
    {"process-vm-readv", SYS_process_vm_readv, 0, EPERM, 0, 0, 0},
    {"linkat", SYS_linkat, 0, EXDEV, 0, 0, 0},
    {"quota", SYS_fallocate, 0, EDQUOT, 0, 0, 0},
    {"timer-create", SYS_timer_create, 0, EAGAIN, 0, 0, 0},
    {"thread-timers", SYS_timer_create, 0, EAGAIN, CLOCK_PROCESS_CPUTIME_ID, 0,
     0},
    {"perf-event-open", SYS_perf_event_open, 0, EACCES, 0, 0, 0},
    /* CLONE_NEW* (uapi linux/sched.h). */
    {"namespaces", SYS_clone, 0, EPERM, 0, 0x7e020000, 0},
};

#define PROGRAM_MAX 2048U
static struct sock_filter program[PROGRAM_MAX];
static uint16_t count;

static void add(uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    if (count == PROGRAM_MAX)
        abort();
    program[count++] = (struct sock_filter){code, yes, no, k};
}

/* The refusal's part: what it does not match leads to the part's end. */
static void add_refusal(const struct refusal *refusal)
{
    const uint16_t load = BPF_LD | BPF_W | BPF_ABS;
    const uint8_t rest = (refusal->spared != 0) * 2U +
                         (refusal->argument != 0) * 2U +
                         (refusal->bits != 0) * 2U + 1U;
    uint8_t left = rest;
    add(load, FIELD(nr), 0, 0);
    add(BPF_JMP | BPF_K | (refusal->and_later ? BPF_JGE : BPF_JEQ),
        refusal->number, 0, left);
    if (refusal->spared != 0) {
        add(load, FIELD(args[0]), 0, 0);
        left -= 2U;
        add(BPF_JMP | BPF_JEQ | BPF_K, refusal->spared, left, 0);
    }
    if (refusal->argument != 0) {
        add(load, FIELD(args[1]), 0, 0);
        left -= 2U;
        add(BPF_JMP | BPF_JEQ | BPF_K, refusal->argument, 0, left);
    }
    if (refusal->bits != 0) {
        add(load, FIELD(args[0]), 0, 0);
        left -= 2U;
        add(BPF_JMP | BPF_JSET | BPF_K, refusal->bits, 0, left);
    }
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | refusal->error, 0, 0);
}

static int install(void)
{
    const struct sock_fprog filter = {count, program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static int find(const char *what, struct refusal *refusal)
{
    char *end;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (strcmp(refusals[i].name, what) == 0) {
            *refusal = refusals[i];
            return 1;
        }
    }
    memset(refusal, 0, sizeof(*refusal));
    refusal->number = (uint32_t)strtoul(what, &end, 10);
    if (end == what)
        return 0;
    refusal->and_later = *end == '-';
    if (end[refusal->and_later] != '/')
        return 0;
    refusal->error = (uint32_t)strtoul(end + refusal->and_later + 1, NULL, 10);
    return 1;
}

int main(int argc, char **argv)
{
    struct refusal refusal;
    if (argc < 3)
        return 64;
    for (char *what = strtok(argv[1], ","); what != NULL;
         what = strtok(NULL, ",")) {
        if (!find(what, &refusal))
            return 64;
        add_refusal(&refusal);
    }
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    if (!install()) {
        perror("refuse");
        return 2;
    }
    /* What is to be preloaded into the program, but not into this one. */
    if (getenv("REFUSE_PRELOAD") != NULL)
        setenv("LD_PRELOAD", getenv("REFUSE_PRELOAD"), 1);
    /* execve may be one of those refused. */
    syscall(SYS_execveat, AT_FDCWD, argv[2], argv + 2, environ, 0);
    perror(argv[2]);
    return 127;
}
