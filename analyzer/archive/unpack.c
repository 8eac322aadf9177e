/* SPDX-License-Identifier: MIT
 *
 * Unpacks archives.  They are untrusted: files are of the few names that a
 * profile has, each once, new ones in a new folder; no links; bounded in number
 * and size.
 * Runs in: analyzer. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "base/ends.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/ours.h"
#include "member.h"
#include "tar.h"
#include "zst.h"

#define PREFIX "jprof-unpacked-"
#define FILES_MAX 65536
#define BUFFER 65536
#define TRIES 10
#define PADDING_MAX 65536U /* behind the last file: blocks of zeros */

struct unpacking {
    const char *path;
    struct jr_unzst *unzst;
    const char *why;     /* it cannot be unpacked */
    struct held *folder; /* where to */
    uint8_t buffer[BUFFER];
};

/* The folders that a signal removes.  It reads the names itself, by nothing but
 * what may be called there. */
static struct held {
    volatile sig_atomic_t is_there; /* what follows is a folder's */
    int fd;
    char path[4096];
    volatile sig_atomic_t nnames;
    char names[FILES_MAX][JR_TAR_NAME_MAX + 1];
} held[JR_ARCHIVES];

static void remove_held(const struct held *folder)
{
    for (int i = 0; i < folder->nnames; i++)
        (void)unlinkat(folder->fd, folder->names[i], 0);
    (void)rmdir(folder->path);
}

/* A jr_undo_fn. */
static void remove_all_held(void)
{
    for (size_t i = 0; i < JR_ARCHIVES; i++)
        if (held[i].is_there)
            remove_held(&held[i]);
}

static int fail(struct unpacking *unpacking, const char *why)
{
    unpacking->why = why;
    return -1;
}

/* Reads exactly so many bytes. */
static int take(struct unpacking *unpacking, void *to, size_t size)
{
    const char *why;

    if (jr_unzst_read(unpacking->unzst, to, size, &why) == size)
        return 0;
    return fail(unpacking, why ? why : "it ends in the middle of a file");
}

static int is_zero(const uint8_t *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Writes a piece at its place; zeros are left out, as a hole. */
static int put(struct unpacking *unpacking, int fd, uint64_t at, size_t size)
{
    size_t done = 0;

    if (is_zero(unpacking->buffer, size))
        return 0;
    while (done < size) {
        ssize_t wrote = pwrite(fd, unpacking->buffer + done, size - done,
                               (off_t)(at + done));

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return fail(unpacking, strerror(errno));
        done += (size_t)wrote;
    }
    return 0;
}

static int copy(struct unpacking *unpacking, const struct jr_tar_file *file,
                int fd)
{
    const size_t rest = (size_t)(file->size % JR_TAR_BLOCK);
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
                                     {.tv_sec = (time_t)file->mtime}};

    for (uint64_t at = 0; at < file->size;) {
        size_t piece =
            file->size - at < BUFFER ? (size_t)(file->size - at) : BUFFER;

        if (take(unpacking, unpacking->buffer, piece) != 0 ||
            put(unpacking, fd, at, piece) != 0)
            return -1;
        at += piece;
    }
    if (ftruncate(fd, (off_t)file->size) != 0 || futimens(fd, times) != 0)
        return fail(unpacking, strerror(errno));
    return rest ? take(unpacking, unpacking->buffer, JR_TAR_BLOCK - rest) : 0;
}

/* Takes the file behind a head out. */
static int take_file(struct unpacking *unpacking,
                     const struct jr_tar_file *file)
{
    struct held *folder = unpacking->folder;
    int fd, result;

    if (!jr_member_is_known(file->name))
        return fail(unpacking, "it has a file that is none of a profile");
    if (folder->nnames == FILES_MAX)
        return fail(unpacking, "it has too many files");
    memcpy(folder->names[folder->nnames], file->name, sizeof file->name);
    folder->nnames++;
    fd = openat(folder->fd, file->name,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(unpacking, errno == EEXIST ? "it has one file twice"
                                               : strerror(errno));
    result = copy(unpacking, file, fd);
    if (close(fd) != 0 && result == 0)
        result = fail(unpacking, strerror(errno));
    return result;
}

/* Behind the last file there are zeros alone, and its checksum holds. */
static int take_end(struct unpacking *unpacking)
{
    const char *why;
    size_t got =
        jr_unzst_read(unpacking->unzst, unpacking->buffer, PADDING_MAX, &why);

    if (why)
        return fail(unpacking, why);
    if (got == PADDING_MAX || (got > 0 && !is_zero(unpacking->buffer, got)))
        return fail(unpacking, "there is something behind its last file");
    return 0;
}

static int take_all(struct unpacking *unpacking)
{
    uint8_t block[JR_TAR_BLOCK];
    struct jr_tar_file file;
    const char *why;

    for (;;) {
        int kind;

        if (take(unpacking, block, sizeof block) != 0)
            return -1;
        kind = jr_tar_take(block, &file, &why);
        if (kind > 0)
            return take_end(unpacking);
        if (kind < 0)
            return fail(unpacking, why);
        if (take_file(unpacking, &file) != 0)
            return -1;
    }
}

/* Removes what a report that was killed has left: nobody holds its lock. */
static void sweep(const char *parent, const char *name)
{
    char *path = jr_printf("%s/%s", parent, name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const struct dirent *entry;
    struct stat info;
    DIR *names = NULL;

    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        names = fdopendir(fd);
    if (names) {
        while ((entry = readdir(names)))
            if (jr_member_is_known(entry->d_name))
                (void)unlinkat(fd, entry->d_name, 0);
        (void)rmdir(path);
        closedir(names);
    } else if (fd >= 0) {
        close(fd);
    }
    free(path);
}

static void sweep_all(const char *parent)
{
    DIR *names = opendir(parent);
    const struct dirent *entry;

    while (names && (entry = readdir(names)))
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0)
            sweep(parent, entry->d_name);
    if (names)
        closedir(names);
}

/* Makes a folder of the name that `path` is a template of, and locks it.
 * Another report may take it for one that was left: then it is gone, or
 * locked. */
static int make_locked(char *path)
{
    struct stat info;
    int fd;

    if (!mkdtemp(path))
        return -1;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 ||
                    fstat(fd, &info) != 0 || info.st_nlink == 0)) {
        close(fd);
        errno = EAGAIN;
        fd = -1;
    }
    return fd;
}

/* Makes the folder and opens it; NULL after saying why not. */
static struct held *make_folder(struct jr_unpacked *unpacked)
{
    const char *parent = getenv("TMPDIR");
    struct held *folder = held;
    int fd = -1;

    parent = parent && *parent ? parent : "/tmp";
    sweep_all(parent);
    errno = EAGAIN;
    for (int i = 0; i < TRIES && fd < 0 && errno == EAGAIN; i++) {
        free(unpacked->folder);
        unpacked->folder = jr_printf("%s/" PREFIX "XXXXXX", parent);
        errno = ENAMETOOLONG;
        if (strlen(unpacked->folder) < sizeof folder->path)
            fd = make_locked(unpacked->folder);
    }
    if (fd < 0) {
        jr_say("%s: %s; nothing unpacked", unpacked->folder, strerror(errno));
        free(unpacked->folder);
        unpacked->folder = NULL;
        return NULL;
    }
    while (folder->is_there)
        folder++;
    memcpy(folder->path, unpacked->folder, strlen(unpacked->folder) + 1);
    folder->nnames = 0;
    folder->fd = fd;
    folder->is_there = 1;
    jr_ends_add(remove_all_held);
    return folder;
}

int jr_archive_is(const char *path)
{
    /* RFC 8878, 3.1.1: the magic number of a frame. */
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    uint8_t start[sizeof magic];
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why), found;

    if (fd < 0)
        return 0;
    found = jr_file_pread(fd, start, sizeof start, 0) == sizeof start &&
            memcmp(start, magic, sizeof magic) == 0;
    close(fd);
    return found;
}

int jr_archive_unpack(const char *path, struct jr_unpacked *unpacked)
{
    struct unpacking *unpacking = jr_alloc(1, sizeof *unpacking);
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why), result = -1;

    *unpacked = (struct jr_unpacked){0};
    unpacking->path = path;
    if (fd < 0)
        jr_say("%s: %s", path, why);
    unpacking->folder = fd < 0 ? NULL : make_folder(unpacked);
    if (unpacking->folder) {
        jr_file_read_for(&info);
        if (fstat(unpacking->folder->fd, &info) == 0)
            jr_file_trust(&info);
        unpacking->unzst = jr_unzst_new(fd);
        result = take_all(unpacking);
        jr_unzst_free(unpacking->unzst);
        unpacked->names = jr_printf("%s/" JR_MEMBER_NAMES, unpacked->folder);
        if (result == 0 && access(unpacked->names, R_OK) != 0)
            result = fail(unpacking, "it is none of jprof");
        if (result != 0)
            jr_say("%s: no archive that can be read: %s; nothing of it is used",
                   path, unpacking->why);
    }
    if (fd >= 0)
        close(fd);
    free(unpacking);
    if (result != 0)
        jr_archive_remove(unpacked);
    return result;
}

void jr_archive_remove(struct jr_unpacked *unpacked)
{
    for (size_t i = 0; i < JR_ARCHIVES && unpacked->folder; i++) {
        if (!held[i].is_there || strcmp(held[i].path, unpacked->folder) != 0)
            continue;
        remove_held(&held[i]);
        held[i].is_there = 0;
        close(held[i].fd);
    }
    free(unpacked->folder);
    free(unpacked->names);
    *unpacked = (struct jr_unpacked){0};
}
