/* SPDX-License-Identifier: MIT
 *
 * Makes the files in /tmp that a runtime is asked for before it does.
 * Runs in: launcher, a child that is about to execute. */
#include "claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/say.h"
#include "launcher/runtimes/runtimes.h"

#define NAME_SIZE 32

/* The name in /tmp of one kind of file; NULL: it is not in `files`. */
static const char *name_of(unsigned files, unsigned kind, uint32_t pid,
                           char name[NAME_SIZE])
{
    if (!(files & kind))
        return NULL;
    if (kind == JL_JITDUMP)
        snprintf(name, NAME_SIZE, "jit-%" PRIu32 ".dump", pid);
    else
        snprintf(name, NAME_SIZE, "%s-%" PRIu32 ".map",
                 kind == JL_PERFMAP ? "perf" : "perfinfo", pid);
    return name;
}

/* It need not be one whose names the user may list. */
static int open_tmp(void)
{
    return open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int is_own(int dir, const char *name, struct stat *info)
{
    return fstatat(dir, name, info, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(info->st_mode) && info->st_uid == geteuid() &&
           info->st_nlink == 1;
}

/* Whether the runtime must not be asked for the name, which could not be made
 * with `error`: another has it, or may have it before the runtime does.  Where
 * nothing can be written, nobody can. */
static int is_lost(int dir, const char *name, int error)
{
    struct stat info;

    if (error == EROFS || (error == EEXIST && is_own(dir, name, &info)))
        return 0;
    if (error == EEXIST)
        jr_say("/tmp/%s is there already, and not yours: the program is not "
               "asked to write it",
               name);
    else
        jr_say("/tmp/%s cannot be made (%s): the program is not asked to "
               "write it",
               name, strerror(error));
    return 1;
}

int jl_claim(unsigned files)
{
    int dir = open_tmp(), bad = 0;

    for (unsigned kind = JL_PERFMAP; dir >= 0 && kind <= JL_PERFINFO;
         kind <<= 1) {
        char name[NAME_SIZE];
        int fd;

        if (!name_of(files, kind, (uint32_t)getpid(), name))
            continue;
        fd = openat(dir, name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0)
            close(fd);
        else if (is_lost(dir, name, errno))
            bad = -1;
    }
    if (dir >= 0)
        close(dir);
    return bad;
}

void jl_claim_drop(unsigned files, uint32_t pid)
{
    int dir = open_tmp();

    for (unsigned kind = JL_PERFMAP; dir >= 0 && kind <= JL_PERFINFO;
         kind <<= 1) {
        char name[NAME_SIZE];
        struct stat info;

        if (name_of(files, kind, pid, name) && is_own(dir, name, &info) &&
            info.st_size == 0)
            (void)unlinkat(dir, name, 0);
    }
    if (dir >= 0)
        close(dir);
}

int jl_claim_failed(unsigned files, uint32_t pid)
{
    int dir = open_tmp(), failed = 0;

    for (unsigned kind = JL_PERFMAP; dir >= 0 && kind <= JL_PERFINFO;
         kind <<= 1) {
        char name[NAME_SIZE];
        struct stat info;

        if (name_of(files, kind, pid, name))
            failed |= fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                      (!S_ISREG(info.st_mode) || info.st_uid != geteuid());
    }
    if (dir >= 0)
        close(dir);
    return failed;
}
