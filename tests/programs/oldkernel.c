/* SPDX-License-Identifier: MIT
 *
 * Runs a program as on a kernel before Linux 6.11: PROCMAP_QUERY answers
 * ENOTTY (by a seccomp filter, which exec keeps).
 * Runs in: tests.
 *
 * oldkernel PROGRAM [ARGUMENT...] */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The request of struct procmap_query, 104 bytes (uapi linux/fs.h). */
#define QUERY _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 104)

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))

int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)QUERY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]),
                                       filter};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("oldkernel");
        return 2;
    }
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
