/* SPDX-License-Identifier: MIT
 *
 * The storm: children that shut themselves in.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "storm.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(number)                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                       \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* All but these calls kill. */
static int shut_in(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read),
        ALLOW(SYS_write),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_rt_sigreturn),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static void filters(struct storm_activity *self)
{
    const pid_t pid = fork();
    STORM_CHECK(self, pid >= 0);
    if (pid == 0) {
        storm_work(200);
        if (!shut_in())
            _exit(102);
        storm_work(3000);
        _exit(6);
    }
    STORM_CHECK(self, storm_status_of(pid) == 6);
}

/* Where that is not allowed, there is only the child. */
static void roots(struct storm_activity *self)
{
    const pid_t pid = fork();
    STORM_CHECK(self, pid >= 0);
    if (pid == 0) {
        if (geteuid() == 0) {
            if (chroot("/proc/self/fdinfo") != 0 || chdir("/") != 0)
                _exit(103);
            if (setgid(65534) != 0 || setuid(65534) != 0)
                _exit(105);
        }
        storm_work(3000);
        _exit(geteuid() == 0 ? 104 : 8);
    }
    STORM_CHECK(self, storm_status_of(pid) == 8);
}

struct storm_activity storm_sandbox[] = {
    {"filters", filters, 300000, 0, 0},
    {"roots", roots, 300000, 0, 0},
    {NULL, NULL, 0, 0, 0},
};
