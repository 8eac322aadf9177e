/* SPDX-License-Identifier: MIT
 *
 * Closing descriptors that a forked child has from its parent's handlers.
 * Runs in: any thread. */
#include "inherit.h"

#include <sys/syscall.h>

#include "mapfile.h"
#include "sig/log/annex.h"
#include "sig/log/log.h"
#include "sig/os/dirent.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

/* Whether a descriptor is jprof's: a file that it opened for reading, an event
 * of its clock, or the parent's log or map, which no program opens
 * close-on-exec by itself. */
static int is_ours_sig(int fd)
{
    struct stat info;
    if (fd == jp_appended_fd_sig())
        return 0; /* the child keeps it, too */
    if (jp_sys_is_marked_sig(fd))
        return 1;
    if (jp_process.clock->is_descriptor != NULL &&
        jp_process.clock->is_descriptor(fd))
        return 1;
    if (jp_sys_sig(SYS_fcntl, fd, F_GETFD, 0, 0, 0) != FD_CLOEXEC ||
        jp_sys_fstat_sig(fd, &info) != 0)
        return 0;
    return jp_mapfile_is_sig(&info) ||
           (atomic_load(&jp_log.state) == JP_LOG_READY &&
            info.st_dev == jp_log.device && info.st_ino == jp_log.inode);
}

static void close_sig(uint32_t fd, void *data)
{
    const int *directory = data;
    if ((int)fd != *directory && is_ours_sig((int)fd))
        jp_sys_sig(SYS_close, fd, 0, 0, 0, 0);
}

void jp_inherit_close_sig(uint64_t before)
{
    if (!jp_sys_may_inherit_sig(before))
        return;
    int directory = jp_sys_open_sig("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    if (directory < 0)
        return;
    jp_dirent_numbers_sig(directory, close_sig, &directory);
    jp_sys_close_sig(directory);
}
