/* SPDX-License-Identifier: MIT
 *
 * Makes a profile's folder and opens files in it.
 * Runs in: launcher. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/base/say.h"
#include "launcher/os/reach.h"

#define NAMES_TRIED 100
#define NAMES_MAX 100000 /* of a folder that are looked at */

static int is_empty(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    int count = 0;

    if (!names)
        return 0;
    while ((entry = readdir(names)))
        count +=
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(names);
    return count == 0;
}

/* Where an open folder is, as the kernel says it; allocated.  It is a text: by
 * now another folder may be there, or, at a removed one's "NAME (deleted)", a
 * link. */
static char *path_of(int fd)
{
    char name[32], path[PATH_MAX];
    ssize_t length;

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    length = readlink(name, path, sizeof path);
    return length > 0 && length < (ssize_t)sizeof path && path[0] == '/'
               ? jr_strndup(path, (size_t)length)
               : NULL;
}

/* Whether the path leads to the folder and nobody else can change that, because
 * no other user can write to a folder above. */
static int is_settled(const struct jl_folder *folder)
{
    struct stat here, ours;

    return jl_path_is_safe(folder->path) && lstat(folder->path, &here) == 0 &&
           fstat(folder->fd, &ours) == 0 && jr_is_same_file(&here, &ours);
}

/* Where systems have folders that others rely on; and what lies in there, but
 * is for users (hier(7), file-hierarchy(7)). */
static const char *const systems[] = {
    "/bin",  "/boot", "/dev",  "/etc", "/lib", "/lib32", "/lib64",
    "/proc", "/run",  "/sbin", "/sys", "/usr", "/var"};
static const char *const users[] = {"/dev/shm", "/run/user", "/usr/src",
                                    "/var/tmp"};

static int is_below(const char *path, const char *const *tops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(tops[i]);

        if (strncmp(path, tops[i], length) == 0 && path[length] == '/')
            return 1;
    }
    return 0;
}

/* Where a file system begins, a bound one too. */
static int is_mounted(int fd)
{
    struct statx info;

    return statx(fd, "", AT_EMPTY_PATH, 0, &info) == 0 &&
           (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* A folder for all users, as /tmp is, the root of all paths, or one that was
 * there and that others count on getting into: /mnt, a volume, what is below
 * /usr. */
static int is_system(int fd, const struct stat *info, int was_there)
{
    char *path = path_of(fd);
    int answer = (info->st_mode & S_ISVTX) || !path || strcmp(path, "/") == 0;

    if (!answer && was_there && (info->st_mode & 0077))
        answer = strchr(path + 1, '/') == NULL || is_mounted(fd) ||
                 (is_below(path, systems, sizeof systems / sizeof *systems) &&
                  !is_below(path, users, sizeof users / sizeof *users));
    free(path);
    return answer;
}

/* Closes the user's own empty folder to others.  Whoever could write to it
 * has it open, perhaps: so it is looked at before, for what is refused keeps
 * its mode, and afterwards. */
static void shut(const struct jl_folder *folder, mode_t mode)
{
    int empty = is_empty(folder->fd);

    if (empty && mode != 0700) {
        if (fchmod(folder->fd, 0700) != 0)
            jl_fail(JR_FAILED,
                    "%s cannot be closed to others: %s; nothing was run",
                    folder->shown, strerror(errno));
        empty = is_empty(folder->fd);
        if (!empty)
            (void)fchmod(folder->fd, mode);
    }
    if (!empty)
        jl_fail(JR_FAILED, "%s is not empty; nothing was run", folder->shown);
}

/* Opens the folder, and sees to it that it is the user's own and closed to
 * others. */
static void take(struct jl_folder *folder, int dir, const char *last,
                 int was_there)
{
    struct stat info;

    folder->fd =
        openat(dir, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->fd < 0)
        jl_fail(JR_FAILED, "%s: %s; nothing was run", folder->shown,
                errno == ENOTDIR || errno == ELOOP ? "is no folder"
                                                   : strerror(errno));
    if (fstat(folder->fd, &info) != 0 || info.st_uid != geteuid())
        jl_fail(JR_FAILED, "%s is another user's; nothing was run",
                folder->shown);
    if (is_system(folder->fd, &info, was_there))
        jl_fail(JR_FAILED,
                "%s is the system's, not a profile's; nothing was "
                "run (name a new folder in it, or give it mode 0700 before)",
                folder->shown);
    shut(folder, info.st_mode & 07777);
    if (was_there && (info.st_mode & 0022) && geteuid() == 0)
        jr_say("%s could be written by others until now", folder->shown);
    if (faccessat(folder->fd, ".", W_OK, AT_EACCESS) != 0)
        jl_fail(JR_FAILED, "%s cannot be written to", folder->shown);
}

void jl_folder_make(struct jl_folder *folder, const char *name,
                    int may_be_there)
{
    size_t length = strlen(name);
    int was_there = 0, dir;
    char *last;

    while (length > 1 && name[length - 1] == '/')
        length--;
    *folder = (struct jl_folder){.shown = jr_strndup(name, length)};
    dir = jl_reach(folder->shown, &last);
    if (mkdirat(dir, last, 0700) != 0) {
        was_there = errno == EEXIST && may_be_there;
        if (!was_there)
            jl_fail(JR_FAILED, "%s: %s; nothing was run", folder->shown,
                    strerror(errno));
    }
    take(folder, dir, last, was_there);
    close(dir);
    free(last);
    folder->path = path_of(folder->fd);
    if (!folder->path)
        jl_fail(JR_FAILED, "%s: %s; nothing was run", folder->shown,
                strerror(errno));
    folder->is_elsewhere = !is_settled(folder);
    folder->given = folder->is_elsewhere ? jr_printf("/proc/%ld/fd/%d",
                                                     (long)getpid(), folder->fd)
                                         : jr_strdup(folder->path);
}

int jl_folder_open(const struct jl_folder *folder, const char *name, int flags,
                   nlink_t links, struct stat *info)
{
    int fd =
        openat(folder->fd, name,
               flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);

    if (fd < 0)
        return -1;
    if (fstat(fd, info) == 0 && S_ISREG(info->st_mode) &&
        info->st_uid == geteuid() && info->st_nlink <= links)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

int jl_folder_has(const struct jl_folder *folder, const char *name)
{
    struct stat info;

    return fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A new file of mode 0600, open for writing.  Returns a descriptor or -1 with
 * errno; EEXIST: the name is taken. */
static int create(const struct jl_folder *folder, const char *name)
{
    return openat(folder->fd, name,
                  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int jl_folder_temporary(const struct jl_folder *folder, char **name)
{
    int fd = -1;

    *name = NULL;
    for (int i = 0; i < NAMES_TRIED && fd < 0; i++) {
        free(*name);
        *name = jr_printf(".jprof-%ld-%d", (long)getpid(), i);
        fd = create(folder, *name);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static int compare(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

char **jl_folder_list(const struct jl_folder *folder, const char *prefix,
                      size_t *count)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    char **list = NULL;
    size_t room = 0;

    *count = 0;
    while (names && *count < NAMES_MAX && (entry = readdir(names)))
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            *JR_PUSH(list, *count, room) = jr_strdup(entry->d_name);
    if (names)
        closedir(names);
    if (*count)
        qsort(list, *count, sizeof *list, compare);
    return list;
}

void jl_folder_free_list(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

void jl_folder_drop(const struct jl_folder *folder)
{
    struct stat here, ours;

    if (fstat(folder->fd, &ours) == 0 && lstat(folder->path, &here) == 0 &&
        jr_is_same_file(&here, &ours))
        (void)rmdir(folder->path);
}
