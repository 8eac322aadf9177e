/* SPDX-License-Identifier: MIT
 *
 * Forks that call no pthread_atfork handlers: _Fork, clone and the bare system
 * calls, as fork servers use them.  (Nothing is done for a child that shares
 * its parent's memory, which is a thread or will exec.)
 * Runs in: any thread, not in a handler. */
#include "clones.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fork.h"
#include "handover.h"
#include "hooks/base/real.h"
#include "sandbox.h"
#include "sig/arch/arch.h"
#include "sig/files/tree.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"

/* Sets a child up.  One with mounts of its own may soon have none to write its
 * log to. */
static void begin_child(uint64_t flags)
{
    jp_fork_child();
    if ((flags & CLONE_NEWNS) != 0) {
        jp_sandbox_before();
        jp_handover_keep();
    }
}

/* Ends a fork in parent and child; returns pid.  errno is kept in the parent
 * only: the child may have another thread pointer, and jp_fork_child keeps
 * it. */
static long forked(long pid, uint64_t flags)
{
    if (pid == 0) {
        begin_child(flags);
        return 0;
    }
    const int error = errno;
    jp_fork_parent();
    errno = error;
    return pid;
}

/* A child that shares root and working directory with its parent (CLONE_FS)
 * may change them, and so take the log's files out of the parent's reach, as
 * Chromium's sandbox does. */
static void before_sandbox_of(uint64_t flags)
{
    if ((flags & (CLONE_FS | CLONE_THREAD)) == CLONE_FS)
        jp_sandbox_before();
}

JP_HOOK(pid_t, _Fork, (void))
{
    JP_REAL(_Fork)
    jp_fork_before();
    return (pid_t)forked(real(), 0);
}

/* The function that a cloned child runs. */
struct body {
    int (*function)(void *);
    void *argument;
    uint64_t flags;
};

static int begin(void *data)
{
    const struct body body = *(const struct body *)data;
    begin_child(body.flags);
    return body.function(body.argument);
}

JP_HOOK(int, clone,
        (int (*function)(void *), void *stack, int flags, void *argument, ...))
{
    JP_REAL(clone)
    struct body body = {function, argument, (unsigned)flags};
    va_list more;
    va_start(more, argument);
    void *parent_tid = va_arg(more, void *);
    void *tls = va_arg(more, void *);
    void *child_tid = va_arg(more, void *);
    va_end(more);
    before_sandbox_of((unsigned)flags);
    if ((flags & CLONE_VM) != 0) {
        const int pid =
            real(function, stack, flags, argument, parent_tid, tls, child_tid);
        if (pid > 0 && (flags & (CLONE_THREAD | CLONE_VFORK)) == 0)
            jp_tree_shares_sig((uint32_t)pid);
        return pid;
    }
    jp_fork_before();
    return (int)forked(
        real(begin, stack, flags, &body, parent_tid, tls, child_tid),
        (unsigned)flags);
}

/* The clone flags of a system call that makes a thread or process; CLONE_VM
 * for any other call, or when they cannot be read. */
static uint64_t flags_of(long number, long first)
{
    uint64_t flags = CLONE_VM;
    if (JP_ARCH_IS_FORK(number))
        return 0;
    if (number == SYS_clone)
        return (uint64_t)first;
    /* struct clone_args begins with the flags. */
    if (number == SYS_clone3 &&
        jp_self_read_sig((uint64_t)first, &flags, sizeof(flags)) !=
            (long)sizeof(flags))
        return CLONE_VM;
    return flags;
}

int jp_clones_is_fork(long number, long first)
{
    const uint64_t flags = flags_of(number, first);
    before_sandbox_of(flags);
    return (flags & CLONE_VM) == 0;
}

long jp_clones_fork(jp_syscall_function *real, const long a[7])
{
    jp_fork_before();
    const uint64_t flags = flags_of(a[0], a[1]);
    return forked(real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]), flags);
}
