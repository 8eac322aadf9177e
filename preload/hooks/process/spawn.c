/* SPDX-License-Identifier: MIT
 *
 * Hooks of functions in which the C library itself starts programs, past the
 * exec hooks and with the calling thread's mask.  So for the time of the call,
 * the mask is made what the program believes that it is.
 * Runs in: any thread, vfork children. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/signals/kernel.h"
#include "handover.h"
#include "sig/state/process.h"
#include "target.h"

/* What `after` must undo: bits. */
#define MASKED 1
#define PASSED 2 /* a descriptor was passed on */

/* Sets that mask, and passes on what the program needs for a log; target: as
 * jp_handover_pass's. */
static int before(const struct jp_target *target)
{
    jp_kernel_exec(1);
    const int done = jp_handover_pass(target) ? PASSED : 0;
    if (jp_local.program_blocked == 0)
        return done;
    if (jp_local_is_vfork_child()) {
        jp_local_begin_vfork_child();
        return done;
    }
    jp_local_exec(SIG_BLOCK);
    return done | MASKED;
}

/* The same where the C library executes its shell. */
static int before_shell(void)
{
    static char name[] = "sh", *const argv[] = {name, NULL};
    return before(
        &(const struct jp_target){"/bin/sh", argv, environ, AT_FDCWD, 0});
}

static void after(int done)
{
    const int error = errno;
    if ((done & MASKED) != 0)
        jp_local_exec(SIG_UNBLOCK);
    if ((done & PASSED) != 0)
        jp_handover_stay();
    jp_kernel_exec(0);
    errno = error;
}

/* Starts the target by `real`, a version of posix_spawn or posix_spawnp. */
static int spawn(__typeof__(posix_spawn) *real, pid_t *pid,
                 struct jp_target *target,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes)
{
    pid_t made = 0;
    pid_t *const child = pid != NULL ? pid : &made;
    JP_TARGET_PRELOAD(target);
    const int done = before(target);
    const int error = real(child, target->path, actions, attributes,
                           target->argv, target->envp);
    if (error == 0)
        jp_target_tell_of(target, (uint32_t)*child);
    after(done);
    return error;
}

JP_HOOK(int, posix_spawn,
        (pid_t * pid, const char *path,
         const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const argv[],
         char *const envp[]))
{
    JP_REAL(posix_spawn)
    struct jp_target target = {path, argv, envp, AT_FDCWD, 0};
    return spawn(real, pid, &target, actions, attributes);
}

JP_HOOK(int, posix_spawnp,
        (pid_t * pid, const char *file,
         const posix_spawn_file_actions_t *actions,
         const posix_spawnattr_t *attributes, char *const argv[],
         char *const envp[]))
{
    JP_REAL(posix_spawnp)
    struct jp_target target = {file, argv, envp, AT_FDCWD, 1};
    return spawn(real, pid, &target, actions, attributes);
}

#if JP_ARCH_OLDER
/* Before glibc 2.15 they had the shell execute a file that the kernel does not
 * know how to (glibc, posix/spawn.c, SPAWN_XFLAGS_TRY_SHELL). */
JP_HOOK_OLD(int, posix_spawn_old, posix_spawn, JP_ARCH_GLIBC,
            (pid_t * pid, const char *path,
             const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const argv[],
             char *const envp[]),
            NULL)
{
    JP_REAL(posix_spawn_old)
    struct jp_target target = {path, argv, envp, AT_FDCWD, 0};
    return spawn(real, pid, &target, actions, attributes);
}

JP_HOOK_OLD(int, posix_spawnp_old, posix_spawnp, JP_ARCH_GLIBC,
            (pid_t * pid, const char *file,
             const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const argv[],
             char *const envp[]),
            NULL)
{
    JP_REAL(posix_spawnp_old)
    struct jp_target target = {file, argv, envp, AT_FDCWD, 1};
    return spawn(real, pid, &target, actions, attributes);
}
#endif

JP_HOOK(int, system, (const char *command))
{
    JP_REAL(system)
    const int done = before_shell();
    const int status = real(command);
    after(done);
    return status;
}

JP_HOOK(FILE *, popen, (const char *command, const char *mode))
{
    JP_REAL(popen)
    const int done = before_shell();
    FILE *stream = real(command, mode);
    after(done);
    return stream;
}
