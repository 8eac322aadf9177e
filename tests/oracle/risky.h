/* SPDX-License-Identifier: MIT
 *
 * What the libraries that step through a program (tests/oracle, tests/twice)
 * must not step over.
 * Runs in: tests (a signal handler; x86-64). */
#ifndef JP_TEST_RISKY_H
#define JP_TEST_RISKY_H

#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "sig/arch/arch.h"

/* Whether the next instruction is a system call that must not be stepped
 * over: it may block SIGTRAP, which would then kill, or begin or end a
 * thread or process. */
static inline int is_risky(const ucontext_t *context)
{
    static const uint16_t risky[] = {SYS_rt_sigprocmask,
                                     SYS_rt_sigaction,
                                     SYS_rt_sigreturn,
                                     SYS_rt_sigsuspend,
                                     SYS_rt_sigtimedwait,
                                     SYS_clone,
                                     SYS_clone3,
                                     SYS_fork,
                                     SYS_vfork,
                                     SYS_execve,
                                     SYS_execveat,
                                     SYS_exit,
                                     SYS_exit_group,
                                     SYS_pselect6,
                                     SYS_ppoll,
                                     SYS_epoll_pwait,
                                     SYS_epoll_pwait2,
                                     SYS_seccomp,
                                     SYS_prctl};
    const long number = jp_arch_call_sig(context);
    for (unsigned i = 0; i < sizeof(risky) / sizeof(risky[0]); i++) {
        if (number == risky[i])
            return 1;
    }
    return 0;
}

#endif
