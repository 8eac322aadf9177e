/* SPDX-License-Identifier: MIT
 *
 * Gives back the room on disk that logs have and do not use.
 * Runs in: launcher. */
#include "trim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "jp_limits.h"
#include "read/names.h"

#define PIECE 65536 /* of a log, that is zero or is not */
#define HOLE (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)

/* Whether another has the file open, or mapped as its writers have, so that
 * the kernel gives out no lease (fcntl(2)).  It is given back at once: who
 * opens the file meanwhile waits for it. */
static int is_in_use(int fd)
{
    if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
        return 1;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return 0;
}

/* Whether the process that writes to the log may be gone, where nobody has it
 * open: those that write without a mapping hold nothing open, but then the file
 * system can make no holes, either.  One in another pid namespace, as a
 * sandbox's, cannot be asked for. */
static int is_finished(int fd)
{
    struct jp_log_header header;
    struct stat space;

    if (jr_file_pread(fd, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.magic, JP_LOG_MAGIC, sizeof header.magic) != 0 ||
        jr_header_refuse(&header))
        return 0;
    if (header.owner_ended)
        return 1;
    if (header.owner_inner == 0 || header.owner_inner > INT32_MAX ||
        stat("/proc/self/ns/pid", &space) != 0 || header.owner_space == 0)
        return 0;
    return header.owner_space != (uint32_t)space.st_ino ||
           (kill((pid_t)header.owner_inner, 0) != 0 && errno == ESRCH);
}

/* Bytes of zeros at `at`, in whole pieces; 0: another byte is in the first.
 * Reads nothing where the kernel knows of a hole. */
static uint64_t zeros_at(int fd, uint64_t at, uint64_t size,
                         unsigned char *piece)
{
    uint64_t data = jr_file_data(fd, at, size);
    size_t got;

    if (data == size)
        return (size - at + PIECE - 1) / PIECE * PIECE;
    if (data - at >= PIECE)
        return (data - at) / PIECE * PIECE;
    got = jr_file_pread(fd, piece, PIECE, at);
    return got > 0 && piece[0] == 0 && memcmp(piece, piece + 1, got - 1) == 0
               ? PIECE
               : 0;
}

/* Makes holes of what is zero. That includes what SEEK_DATA calls a hole: it
 * may be reserved, and ext4 counts what was read of it as data. */
static void punch(int fd, uint64_t size)
{
    unsigned char *piece = jr_alloc(PIECE, 1);

    for (uint64_t at = 0, zeros; at < size; at += zeros ? zeros : PIECE) {
        zeros = zeros_at(fd, at, size, piece);
        if (zeros && fallocate(fd, HOLE, (off_t)at, (off_t)zeros) != 0)
            break;
    }
    free(piece);
}

void jl_trim_logs(const struct jl_folder *folder)
{
    size_t count;
    char **names = jl_folder_list(folder, JP_LOG_NAME, &count);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

    /* The kernel sends SIGIO when another process opens a file with a lease. */
    sigaction(SIGIO, &ignore, &old);
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        int fd;

        if (!jr_is_numbered(names[i], JP_LOG_NAME))
            continue;
        fd = jl_folder_open(folder, names[i], O_RDWR, 1, &info);
        if (fd < 0)
            continue;
        if (!is_in_use(fd) && is_finished(fd))
            punch(fd, (uint64_t)info.st_size);
        close(fd);
    }
    sigaction(SIGIO, &old, NULL);
    jl_folder_free_list(names, count);
}
