/* SPDX-License-Identifier: MIT
 *
 * Answers the calls that open and read files, which the linker leads here
 * (--wrap, tests/tests.mk).  Each held file is a memfd besides, whose number
 * the code under test is given: libelf reads by calls of its own, which nothing
 * leads here.  Open and close do nothing: all that open a file have one
 * descriptor, which pread alone reads.
 * Runs in: fuzz tests. */
#include "held.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BY_NUMBER "/proc/self/fd/"
#define MEMORY (256 << 20) /* bytes that malloc may keep */

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
int __real_fstat(int fd, struct stat *info);
int __real_access(const char *path, int mode);
off_t __real_lseek(int fd, off_t offset, int whence);
ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_fstat(int fd, struct stat *info);
int __wrap_access(const char *path, int mode);
off_t __wrap_lseek(int fd, off_t offset, int whence);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);

static struct held {
    const char *name;
    uint8_t *data;
    size_t size, room, elf_size; /* elf_size: bytes that the memfd has */
    struct stat info;
    int fd, is_elf;
} files[HELD_MAX];
static size_t nfiles;
static int alone;

static struct held *by_number(int fd)
{
    for (size_t i = 0; i < nfiles; i++)
        if (files[i].fd == fd)
            return &files[i];
    return NULL;
}

/* Slashes may stand twice, as for the kernel. */
static struct held *by_path(const char *path)
{
    if (strncmp(path, BY_NUMBER, sizeof BY_NUMBER - 1) == 0)
        return by_number(atoi(path + sizeof BY_NUMBER - 1));
    if (strncmp(path, HELD_FOLDER, sizeof HELD_FOLDER - 1) != 0)
        return NULL;
    path += sizeof HELD_FOLDER - 1;
    path += strspn(path, "/");
    for (size_t i = 0; i < nfiles; i++)
        if (strcmp(files[i].name, path) == 0)
            return &files[i];
    return NULL;
}

static struct held *make(const char *name)
{
    struct held *file = &files[nfiles];

    if (nfiles == HELD_MAX)
        abort();
    file->name = name;
    file->fd = memfd_create(name, MFD_CLOEXEC);
    /* What others may write is read with more care (jr_file_read_for). */
    if (file->fd < 0 || fchmod(file->fd, 0600) != 0 ||
        __real_fstat(file->fd, &file->info) != 0)
        abort();
    nfiles++;
    return file;
}

static struct held *by_name(const char *name)
{
    for (size_t i = 0; i < nfiles; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return make(name);
}

/* One call of the kernel for what libelf could read, two where the size is
 * another one. */
static void give_to_libelf(struct held *file)
{
    const size_t was = file->is_elf ? file->elf_size : 0;

    file->is_elf =
        file->size >= SELFMAG && memcmp(file->data, ELFMAG, SELFMAG) == 0;
    file->elf_size = file->is_elf ? file->size : 0;
    if (was != file->elf_size && ftruncate(file->fd, (off_t)file->elf_size))
        abort();
    if (file->is_elf &&
        pwrite(file->fd, file->data, file->size, 0) != (ssize_t)file->size)
        abort();
}

void held_put(const char *name, const uint8_t *data, size_t size)
{
    struct held *file = by_name(name);

    if (file->size == size && (size == 0 || !memcmp(file->data, data, size)))
        return;
    if (size > file->room) {
        free(file->data);
        file->data = malloc(size);
        file->room = size;
        if (!file->data)
            abort();
    }
    memcpy(file->data, data, size);
    file->size = size;
    file->info.st_size = (off_t)size;
    give_to_libelf(file);
}

void held_number(const char *name, int fd)
{
    struct held *file = by_name(name);

    if (file->fd == fd)
        return;
    if (dup2(file->fd, fd) != fd || __real_close(file->fd) != 0)
        abort();
    file->fd = fd;
}

void held_keep_memory(void)
{
    static int done;

#ifdef __GLIBC__
    if (!done) {
        mallopt(M_TRIM_THRESHOLD, MEMORY);
        mallopt(M_MMAP_THRESHOLD, MEMORY);
    }
#endif
    done = 1;
}

void held_alone(int are)
{
    alone = are;
}

int __wrap_open(const char *path, int flags, ...)
{
    const struct held *file = by_path(path);
    unsigned mode;
    va_list rest;

    if (file)
        return file->fd;
    if (alone) {
        errno = ENOENT;
        return -1;
    }
    va_start(rest, flags);
    mode = flags & O_CREAT ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    return __real_open(path, flags, mode);
}

int __wrap_close(int fd)
{
    return by_number(fd) ? 0 : __real_close(fd);
}

int __wrap_fstat(int fd, struct stat *info)
{
    const struct held *file = by_number(fd);

    if (!file)
        return __real_fstat(fd, info);
    *info = file->info;
    return 0;
}

int __wrap_access(const char *path, int mode)
{
    if (by_path(path))
        return 0;
    if (alone) {
        errno = ENOENT;
        return -1;
    }
    return __real_access(path, mode);
}

/* Who asks does so for each file. */
uid_t __wrap_geteuid(void)
{
    static uid_t user;
    static int known;

    if (!known)
        user = __real_geteuid();
    known = 1;
    return user;
}

/* A held file has no holes. */
off_t __wrap_lseek(int fd, off_t offset, int whence)
{
    const struct held *file = by_number(fd);

    if (!file)
        return __real_lseek(fd, offset, whence);
    if (offset < 0 || (size_t)offset >= file->size) {
        errno = ENXIO;
        return -1;
    }
    return whence == SEEK_HOLE ? (off_t)file->size : offset;
}

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
    const struct held *file = by_number(fd);

    if (!file)
        return __real_pread(fd, to, size, offset);
    if (offset < 0) {
        errno = EINVAL;
        return -1;
    }
    if ((size_t)offset >= file->size)
        return 0;
    if (size > file->size - (size_t)offset)
        size = file->size - (size_t)offset;
    memcpy(to, file->data + offset, size);
    return (ssize_t)size;
}
