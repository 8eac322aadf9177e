/* SPDX-License-Identifier: MIT
 *
 * Opens and reads regular files; refuses what could block or never end.
 * Runs in: analyzer. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "ours.h"

#define NO_USER ((uid_t)-1)
#define TRUSTED_MAX 4 /* folders; a report compares two archives */
#define NAME_SIZE 64  /* of a descriptor's name in /proc */
#define FOLDER (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define READING (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* The user whose profile root reads; NO_USER: several users' profiles. */
static uid_t reader;
static int has_reader;

/* The folders whose files he may read anyway. */
static struct stat trusted[TRUSTED_MAX];
static size_t ntrusted;

void jr_file_trust(const struct stat *info)
{
    if (ntrusted < TRUSTED_MAX)
        trusted[ntrusted++] = *info;
}

void jr_file_read_for(const struct stat *info)
{
    uid_t owner = info->st_mode & (S_IWGRP | S_IWOTH) ? NO_USER : info->st_uid;

    if (geteuid() != 0 || owner == 0)
        return;
    reader = has_reader && reader != owner ? NO_USER : owner;
    has_reader = 1;
}

/* Whether the user has this right. He may belong to the group of another user's
 * file, so group and others must both have it; the bits are those of others, as
 * in stat(2). */
static int may(uid_t user, const struct stat *info, mode_t others)
{
    const mode_t wanted =
        info->st_uid == user ? others << 6 : others << 3 | others;

    return (info->st_mode & wanted) == wanted;
}

int jr_is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Whether the user could go to the file from folder to folder, and the path
 * leads to it: the kernel's may be one of another mount namespace (of a file
 * below /proc/PID/root), where other folders are above.  Changes the path. */
static int walk_to(uid_t user, char *path, const struct stat *info)
{
    int dir = open("/", FOLDER), reached = 0;
    char *rest = path + 1, *part;
    struct stat there;

    while (dir >= 0 && (part = strsep(&rest, "/"))) {
        int next = -1;

        if (fstat(dir, &there) == 0 && may(user, &there, S_IXOTH)) {
            if (rest)
                next = openat(dir, part, FOLDER);
            else
                reached =
                    fstatat(dir, part, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                    jr_is_same_file(&there, info);
        }
        close(dir);
        dir = next;
    }
    if (dir >= 0)
        close(dir);
    return reached;
}

/* Whether the file at `path`, the kernel's, is in a folder that is trusted. */
static int is_trusted(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = jr_strndup(path, (size_t)(slash - path));
    struct stat info;
    int found = 0;

    if (ntrusted && lstat(folder, &info) == 0)
        for (size_t i = 0; i < ntrusted; i++)
            found |= jr_is_same_file(&info, &trusted[i]);
    free(folder);
    return found;
}

/* Whether the user could read the file, by its mode and by those of the
 * folders that it is in. */
static int is_readable(uid_t user, int fd, const struct stat *info)
{
    char name[NAME_SIZE], path[PATH_MAX];
    ssize_t length;

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    length = readlink(name, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/')
        return 0;
    path[length] = '\0';
    return is_trusted(path) ||
           (may(user, info, S_IROTH) && walk_to(user, path, info));
}

int jr_file_open_again(int fd, const char *path, const struct stat *info)
{
    char name[NAME_SIZE];
    struct stat now;
    int again;

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    again = open(name, READING);
    if (again >= 0 || errno != ENOENT)
        return again;
    again = open(path, READING);
    if (again >= 0 &&
        (fstat(again, &now) != 0 || !jr_is_same_file(&now, info))) {
        close(again);
        errno = ESTALE;
        return -1;
    }
    return again;
}

/* Where the path leads to, of which *info tells.  A link of another user's in
 * root's way makes that user *guide; what stands there may be another file the
 * next moment, so a file without a link is opened by the look at it. */
static int find(const char *path, struct stat *info, uid_t *guide)
{
    int at = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    *guide = 0;
    info->st_mode = 0;
    if (at < 0 || fstat(at, info) < 0 || !S_ISLNK(info->st_mode))
        return at;
    if (geteuid() == 0 && !jr_is_owner_ours(info, jr_sudo_user()))
        *guide = info->st_uid;
    close(at);
    at = open(path, O_PATH | O_CLOEXEC);
    info->st_mode = 0;
    if (at >= 0)
        (void)fstat(at, info);
    return at;
}

int jr_file_open(const char *path, struct stat *info, const char **why)
{
    /* Nothing but a regular file is opened for reading: that would wait for a
     * FIFO's writer, or end the one that waits there, and have a device act. */
    uid_t guide;
    int at = find(path, info, &guide), fd = -1;

    if (at < 0) {
        *why = strerror(errno);
    } else if (!S_ISREG(info->st_mode)) {
        *why =
            S_ISDIR(info->st_mode) ? "is a directory" : "is not a regular file";
    } else if (has_reader && !is_readable(reader, at, info)) {
        *why = "is closed to the user whose profile this is";
    } else if (guide != 0 && !is_readable(guide, at, info)) {
        *why = "is closed to the user whose link leads to it";
    } else {
        fd = jr_file_open_again(at, path, info);
        if (fd < 0)
            *why = strerror(errno);
    }
    if (at >= 0)
        close(at);
    return fd;
}

size_t jr_file_pread(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got =
            pread(fd, (char *)to + done, size - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

uint64_t jr_file_data(int fd, uint64_t offset, uint64_t size)
{
    off_t found = lseek(fd, (off_t)offset, SEEK_DATA);

    if (found < 0)
        return errno == ENXIO ? size : offset;
    return (uint64_t)found < size ? (uint64_t)found : size;
}

int jr_file_read(const char *path, size_t limit, struct jr_bytes *bytes,
                 const char **why)
{
    int fd = jr_file_open(path, &bytes->info, why);
    size_t size;

    bytes->data = NULL;
    bytes->size = 0;
    if (fd < 0)
        return -1;
    if ((uint64_t)bytes->info.st_size > limit) {
        *why = "is too large";
        close(fd);
        return -1;
    }
    size = (size_t)bytes->info.st_size;
    bytes->data = jr_realloc(NULL, size + 1, 1);
    bytes->size = jr_file_pread(fd, bytes->data, size, 0);
    bytes->data[bytes->size] = '\0';
    close(fd);
    return 0;
}

const char *jr_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
