/* SPDX-License-Identifier: MIT
 *
 *     guarded [SECONDS=0.3]
 * Behind a filter that forbids getrusage, the first thread waits on its own
 * stack, and then on a fiber's that it has within that, below a page that
 * nobody may read; each for so long.  Prints nothing.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define PAGE 65536UL /* the largest */

static int wait_ms;
static ucontext_t own, fiber;

static void forbid(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(77);
}

static void wait_here(void)
{
    poll(NULL, 0, wait_ms);
}

int main(int argc, char **argv)
{
    char room[4 * PAGE];
    char *base = room + (PAGE - (uintptr_t)room % PAGE) % PAGE;
    wait_ms = (int)(argument(argc, argv, 1, 0.3) * 1000);
    forbid();
    wait_here();
    if (mprotect(base + PAGE, PAGE, PROT_NONE) != 0)
        return 1;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = base;
    fiber.uc_stack.ss_size = PAGE;
    fiber.uc_link = &own;
    makecontext(&fiber, wait_here, 0);
    swapcontext(&own, &fiber);
    return mprotect(base + PAGE, PAGE, PROT_READ | PROT_WRITE) != 0;
}
