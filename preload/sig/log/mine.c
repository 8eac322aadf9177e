/* SPDX-License-Identifier: MIT
 *
 * Whether a file may be written to or removed.
 * Runs in: handler, any thread, vfork children. */
#include "mine.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "sig/arch/arch.h"
#include "sig/os/sys.h"
#include "sig/state/config.h"

int jp_may_write_sig(int fd, struct stat *info)
{
    return jp_sys_fstat_sig(fd, info) == 0 && S_ISREG(info->st_mode) &&
                   info->st_nlink == 1 &&
                   (info->st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
                   (long)info->st_uid == jp_sys_sig(SYS_geteuid, 0, 0, 0, 0, 0)
               ? 0
               : -EEXIST;
}

int jp_file_owner_is_same_sig(uint32_t now, uint32_t before)
{
    return now == before || (long)now == jp_sys_sig(SYS_geteuid, 0, 0, 0, 0, 0);
}

/* Static, as a handler's stack has no room for a path; `busy` while a thread
 * uses it. */
static char folder[JP_PATH_MAX];
static _Atomic uint32_t busy;

/* Opens the folder that the path's last part is in; sets *part to that part. */
static int open_folder_sig(const char *path, const char **part)
{
    size_t length = 0, end = 0;
    for (; length < sizeof(folder) - 1 && path[length] != '\0'; length++) {
        folder[length] = path[length];
        if (path[length] == '/')
            end = length + 1;
    }
    if (path[length] != '\0' || end == 0)
        return -ENAMETOOLONG;
    folder[end] = '\0';
    *part = path + end;
    return jp_sys_open_sig(folder, O_RDONLY | O_DIRECTORY, 0);
}

static int unlink_sig(const char *path, dev_t device, ino_t inode)
{
    struct stat there;
    const char *part = path;
    const int fd = open_folder_sig(path, &part);
    if (fd < 0)
        return fd;
    long result = jp_sys_sig(JP_ARCH_STAT, fd, (long)part, (long)&there,
                             AT_SYMLINK_NOFOLLOW, 0);
    if (result == 0)
        result = there.st_dev == device && there.st_ino == inode
                     ? jp_sys_sig(SYS_unlinkat, fd, (long)part, 0, 0, 0)
                     : -ESTALE;
    jp_sys_close_sig(fd);
    return (int)result;
}

int jp_file_unlink_sig(const char *path, dev_t device, ino_t inode)
{
    if (atomic_exchange(&busy, 1) != 0)
        return -EBUSY;
    const int result = unlink_sig(path, device, inode);
    atomic_store(&busy, 0);
    return result;
}
