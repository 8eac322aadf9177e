/* SPDX-License-Identifier: MIT
 *
 * Copies and removes single files.
 * Runs in: launcher. */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define PIECE ((size_t)1 << 18)

int jl_write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, text, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        text += put;
        size -= (size_t)put;
    }
    return 0;
}

/* The bytes of `from` in [at, end) that were ever written. */
static int copy_range(int from, int to, off_t at, off_t end)
{
    char *piece = jr_alloc(PIECE, 1);
    int failed = 0;

    while (at < end && !failed) {
        size_t wanted = end - at < (off_t)PIECE ? (size_t)(end - at) : PIECE;
        size_t got = jr_file_pread(from, piece, wanted, (uint64_t)at);

        failed = got == 0 || lseek(to, at, SEEK_SET) < 0 ||
                 jl_write_all(to, piece, got) != 0;
        at += (off_t)got;
    }
    free(piece);
    return failed ? -1 : 0;
}

static int copy_bytes(int from, int to, off_t size)
{
    off_t at = 0;

    while (at < size) {
        off_t data = lseek(from, at, SEEK_DATA), hole;

        if (data < 0 && errno == ENXIO)
            break; /* a hole reaches to the file's end */
        hole = data < 0 ? size : lseek(from, data, SEEK_HOLE);
        if (data < 0 || hole < 0 || hole > size) {
            data = data < 0 ? at : data;
            hole = size;
        }
        if (data >= size)
            break;
        if (copy_range(from, to, data, hole) != 0)
            return -1;
        at = hole;
    }
    return ftruncate(to, size);
}

int jl_copy_file(const struct jl_folder *folder, int from, const char *name)
{
    struct stat info;
    char *temporary;
    int to, failed;

    if (fstat(from, &info) != 0)
        return -1;
    to = jl_folder_temporary(folder, &temporary);
    if (to < 0) {
        free(temporary);
        return -1;
    }
    failed =
        copy_bytes(from, to, info.st_size) != 0 ||
        futimens(to, (struct timespec[]){info.st_atim, info.st_mtim}) != 0 ||
        renameat(folder->fd, temporary, folder->fd, name) != 0;
    close(to);
    if (failed)
        unlinkat(folder->fd, temporary, 0);
    free(temporary);
    return failed ? -1 : 0;
}

int jl_remove_own(int dir, const char *name, const struct stat *known)
{
    struct stat info;

    if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode) || info.st_uid != geteuid())
        return 0;
    if (known ? info.st_dev != known->st_dev || info.st_ino != known->st_ino
              : info.st_nlink != 1)
        return 0;
    return unlinkat(dir, name, 0) == 0;
}
