/* SPDX-License-Identifier: MIT
 *
 * Hooks of wait and its kin: the kernel then tells how much CPU time a child
 * used, whether it has a log or not, and that goes into the process tree's
 * file.
 * Runs in: any thread, the program's handlers. */
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/files/tree.h"
#include "sig/files/usage.h"
#include "sig/state/process.h"

static int is_wanted(void)
{
    return jp_process_ready_sig() && jp_tree_wanted_sig();
}

/* Waits by wait4, which the C library's other functions of the kind call as
 * well, and which is a cancellation point as they are.  The caller's memory is
 * read only if the kernel has written to it.  A tracer is also told of the
 * ends of threads and of others' children; these do not change its children's
 * CPU time, and get no line. */
static pid_t wait_for(pid_t pid, int *status, int options, struct rusage *usage)
{
    JP_REAL_DECLARED(wait4)
    struct rusage own_usage;
    int own_status;
    if (status == NULL)
        status = &own_status;
    if (usage == NULL)
        usage = &own_usage;
    JP_RETRY(retry);
    const int may = jp_retry_begin(&retry);
    const uint64_t before = jp_usage_children_sig();
    pid = JP_RETRY_IN(&retry, may, real(pid, status, options, usage));
    if (pid > 0 && (WIFEXITED(*status) || WIFSIGNALED(*status)) &&
        jp_usage_children_sig() != before)
        jp_tree_child_sig((uint32_t)pid, jp_usage_of_sig(usage));
    return pid;
}

#define WAIT(name, declared, used, as_wait4)                                   \
    JP_HOOK(pid_t, name, declared)                                             \
    {                                                                          \
        JP_REAL(name)                                                          \
        JP_RETRY(retry);                                                       \
        if (is_wanted())                                                       \
            return wait_for as_wait4;                                          \
        const int may = jp_retry_begin(&retry);                                \
        return JP_RETRY_IN(&retry, may, real used);                            \
    }

WAIT(wait, (int *status), (status), (WAIT_ANY, status, 0, NULL))
WAIT(waitpid, (pid_t pid, int *status, int options), (pid, status, options),
     (pid, status, options, NULL))
WAIT(wait3, (int *status, int options, struct rusage *usage),
     (status, options, usage), (WAIT_ANY, status, options, usage))
WAIT(wait4, (pid_t pid, int *status, int options, struct rusage *usage),
     (pid, status, options, usage), (pid, status, options, usage))

/* waitid tells no times: the child's is the difference of the children's CPU
 * time (and includes a child that another thread waits for at the same
 * moment). */
JP_HOOK(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options))
{
    JP_REAL(waitid)
    JP_RETRY(retry);
    const int may = jp_retry_begin(&retry);
    if (!is_wanted() || info == NULL || (options & WEXITED) == 0 ||
        (options & WNOWAIT) != 0)
        return JP_RETRY_IN(&retry, may, real(type, id, info, options));
    const uint64_t before = jp_usage_children_sig();
    const int result = JP_RETRY_IN(&retry, may, real(type, id, info, options));
    if (result == 0 && info->si_signo == SIGCHLD && info->si_pid > 0 &&
        (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
         info->si_code == CLD_DUMPED))
        jp_tree_child_sig((uint32_t)info->si_pid,
                          jp_usage_children_sig() - before);
    return result;
}
