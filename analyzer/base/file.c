/* SPDX-License-Identifier: MIT
 *
 * Opens and reads regular files; refuses what could block or never end.
 * Runs in: analyzer. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"

#define NO_USER ((uid_t)-1)

/* Whose profile root reads; NO_USER: several users'. */
static uid_t reader;
static int has_reader;

void jr_file_read_for(const struct stat *info)
{
    uid_t owner = info->st_mode & (S_IWGRP | S_IWOTH) ? NO_USER : info->st_uid;

    if (geteuid() != 0 || owner == 0)
        return;
    reader = has_reader && reader != owner ? NO_USER : owner;
    has_reader = 1;
}

static int may(const struct stat *info, mode_t his, mode_t others)
{
    return info->st_uid == reader ? (info->st_mode & his) != 0
                                  : (info->st_mode & others) != 0;
}

/* Whether the user could read the open file, by its mode and by those of the
 * folders that it is in. */
static int is_readable(int fd, const struct stat *info)
{
    char name[64], path[PATH_MAX];
    struct stat above;
    ssize_t length;
    int open_to_him = may(info, S_IRUSR, S_IROTH);

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    length = readlink(name, path, sizeof path - 1);
    if (length <= 0)
        return 0;
    path[length] = '\0';
    while (open_to_him && strrchr(path, '/')) {
        *strrchr(path, '/') = '\0';
        open_to_him = stat(*path ? path : "/", &above) == 0 &&
                      may(&above, S_IXUSR, S_IXOTH);
    }
    return open_to_him;
}

int jr_file_open(const char *path, struct stat *info, const char **why)
{
    /* O_NONBLOCK: opening a FIFO for reading would wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0) {
        *why = strerror(errno);
        return -1;
    }
    if (fstat(fd, info) < 0) {
        *why = strerror(errno);
        close(fd);
        return -1;
    }
    if (!S_ISREG(info->st_mode)) {
        *why = S_ISDIR(info->st_mode) ? "is a directory"
                                      : "is not a regular file";
        close(fd);
        return -1;
    }
    if (has_reader && !is_readable(fd, info)) {
        *why = "is closed to the user whose profile this is";
        close(fd);
        return -1;
    }
    return fd;
}

size_t jr_file_pread(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = pread(fd, (char *)to + done, size - done,
                            (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
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
