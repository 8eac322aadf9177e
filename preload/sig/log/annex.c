/* SPDX-License-Identifier: MIT
 *
 * The area behind the end of another process's log.  A process that makes the
 * file longer, or shorter, holds a lock on it (fcntl(2), F_SETLK: a process's,
 * where flock's would be the descriptor's, which all of them have in common).
 * Runs in: handler, any thread, vfork children. */
#include "annex.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/stat.h>

#include "chunk.h"
#include "mine.h"
#include "share.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"
#include "storage.h"
#include "storage_area.h"

#define LAST offsetof(struct jp_log_header, last_area)
#define TRIES 200U /* to lock the file; the next sample tries again */

static struct {
    int fd;     /* 0: none */
    int handed; /* 1: by the program before an exec */
    uint64_t device, inode;
} appended;

/* Whether a descriptor is of the log.  Fills *info. */
static int ask_sig(int fd, struct stat *info)
{
    return fd > 0 && jp_sys_fstat_sig(fd, info) == 0 &&
           S_ISREG(info->st_mode) && info->st_dev == appended.device &&
           info->st_ino == appended.inode;
}

static int is_log_sig(int fd)
{
    struct stat info = {0};
    return ask_sig(fd, &info);
}

int jp_appended_is_handed_sig(void)
{
    return appended.handed;
}

int jp_appended_fd_sig(void)
{
    return appended.fd;
}

/* Opens the log again that the parent has open, at the same number.  Returns
 * whether it is there then. */
static int open_again_sig(void)
{
    char path[40];
    struct jp_text text;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, "/proc/");
    jp_text_decimal_sig(&text, jp_sys_getppid_sig());
    jp_text_add_sig(&text, "/fd/");
    jp_text_decimal_sig(&text, (uint64_t)appended.fd);
    const int fd = jp_sys_open_sig(path, O_RDWR, 0);
    if (fd < 0)
        return 0;
    const int is_log = is_log_sig(fd) && jp_sys_sig(SYS_dup3, fd, appended.fd,
                                                    O_CLOEXEC, 0, 0) >= 0;
    jp_sys_close_sig(fd);
    return is_log;
}

/* Whether the descriptor is there, or was closed and could be opened again. */
static int is_there_sig(void)
{
    return is_log_sig(appended.fd) ||
           (appended.fd > 0 &&
            jp_sys_sig(SYS_fcntl, appended.fd, F_GETFD, 0, 0, 0) == -EBADF &&
            open_again_sig());
}

int jp_appended_pass_sig(int on)
{
    return is_there_sig() && jp_sys_sig(SYS_fcntl, appended.fd, F_SETFD,
                                        on ? 0 : FD_CLOEXEC, 0, 0) == 0;
}

/* Locks the file, how: F_WRLCK, or unlocks it, F_UNLCK.  Returns 0 or -errno;
 * -EAGAIN: another process has the lock. */
static long lock_sig(short how)
{
    const struct flock all = {.l_type = how, .l_whence = SEEK_SET};
    long error = -EAGAIN;
    for (unsigned i = 0; i < TRIES && (error == -EAGAIN || error == -EACCES);
         i++) {
        if (i != 0)
            jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
        error = jp_sys_sig(SYS_fcntl, appended.fd, F_SETLK, (long)&all, 0, 0);
    }
    return error == -EACCES ? -EAGAIN : error;
}

/* The file's length; 0 where the program has closed it. */
static uint64_t length_sig(void)
{
    struct stat info;
    return ask_sig(appended.fd, &info) ? (uint64_t)info.st_size : 0;
}

/* Where the next area may begin in a log of so many bytes: behind what the last
 * one has used, if its process is gone by an exec; else at the log's end. */
static uint64_t place_sig(uint64_t length)
{
    uint64_t last = 0, next = 0;
    jp_sys_pread_sig(appended.fd, &last, sizeof(last), LAST);
    if (last != 0 && last % JP_LOG_ALIGN == 0 && last < length &&
        length - last >= JP_LOG_ALIGN)
        next = jp_share_left_sig(appended.fd, last, length);
    return next != 0 ? next : jp_log_align_sig(length);
}

static void tell_place_sig(void)
{
    const uint64_t start = jp_share_start_sig();
    jp_sys_pwrite_sig(appended.fd, &start, sizeof(start), LAST);
}

int jp_appended_keep_sig(uint64_t *device, uint64_t *inode)
{
    if (!appended.handed && atomic_load(&jp_log.state) == JP_LOG_READY &&
        !jp_log.direct) {
        const int fd = jp_log_open_sig();
        appended.fd = fd >= 0 ? jp_sys_keep_sig(fd) : 0;
        appended.device = jp_log.device;
        appended.inode = jp_log.inode;
        /* From here on, others make the file longer.  (A ring is mapped as a
         * whole.) */
        jp_log.shared = appended.fd != 0 && jp_share_is_there_sig();
        if (jp_log.shared) {
            jp_log.storage = &jp_storage_area;
            tell_place_sig();
        }
    }
    *device = appended.device;
    *inode = appended.inode;
    return appended.fd;
}

int jp_appended_make_sig(void)
{
    int made = 0;
    const long error = is_there_sig() ? lock_sig(F_WRLCK) : -ENOENT;
    if (error != 0)
        return (int)error;
    const uint64_t length = length_sig();
    if (length >= JP_LOG_HEADER_SIZE) {
        atomic_store(&jp_log.next, place_sig(length));
        made = jp_share_make_sig(appended.fd, JP_SHARE_BYTES);
    }
    if (made)
        tell_place_sig();
    lock_sig(F_UNLCK);
    return made ? 0 : -ENOSPC;
}

int jp_appended_take_sig(int fd, uint64_t device, uint64_t inode)
{
    struct stat info;
    appended.device = device;
    appended.inode = inode;
    if (!is_log_sig(fd) || jp_may_write_sig(fd, &info) != 0)
        return 0;
    jp_sys_sig(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC, 0, 0);
    appended.fd = fd;
    appended.handed = 1;
    return 1;
}

/* Cuts the log short at offset `used` if nothing was added to it behind `end`,
 * the end of this process's area.  Returns whether it has. */
static int trim_sig(uint64_t used, uint64_t end)
{
    if (!is_log_sig(appended.fd) || lock_sig(F_WRLCK) != 0)
        return 0;
    const int done =
        length_sig() == end && jp_sys_ftruncate_sig(appended.fd, used) == 0;
    lock_sig(F_UNLCK);
    return done;
}

static void end_sig(void)
{
    uint64_t used, end;
    if (jp_share_end_sig(&used, &end) && !trim_sig(used, end))
        jp_share_return_sig(used);
}

const struct jp_storage jp_storage_appended = {
    .take_sig = jp_storage_area_take_sig,
    .give_sig = jp_share_give_sig,
    .address_sig = jp_share_at_sig,
    .end_sig = end_sig,
};
