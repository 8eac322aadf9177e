/* SPDX-License-Identifier: MIT
 *
 * Files that are read as input: opened without waiting, regular ones only.
 * Runs in: analyzer. */
#ifndef JR_FILE_H
#define JR_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Opens the regular file `path` for reading and fills *info.  Root follows a
 * link of another user's only to what that user could read himself.  Returns a
 * descriptor that the caller closes, or -1 with *why set to a static or
 * strerror text that says why not. */
int jr_file_open(const char *path, struct stat *info, const char **why);

/* Opens for reading the regular file that `fd` (O_PATH) has open and *info
 * tells of; without /proc by its path, if that leads there still.  Returns
 * another descriptor, or -1 with errno. */
int jr_file_open_again(int fd, const char *path, const struct stat *info);

/* Root takes names of files from an open one, of which *info tells: from now on
 * jr_file_open refuses what its owner could not read himself, by its mode and
 * those of the folders above it.  A report shows lines of files that a profile
 * names.  With several users, or where not only the owner may write, what all
 * may read is left.  Nothing changes for who is not root, or by root's own
 * files.  To be called for each file of a profile (log, map, tree's file, perf
 * map, jitdump) before a path in it is followed. */
void jr_file_read_for(const struct stat *info);

/* Takes the files in this folder, of which *info tells, for such as that owner
 * may read: root has unpacked his archive there, where nobody else can be. */
void jr_file_trust(const struct stat *info);

/* Reads up to `size` bytes at `offset` of `fd`.  Returns how many were read:
 * fewer only at the end of the file or at an error. */
size_t jr_file_pread(int fd, void *to, size_t size, uint64_t offset);

/* Where in `fd`, of `size` bytes, at `offset` or behind it the next bytes are
 * that were ever written: the kernel knows of holes.  `size`: there are none.
 * `offset`: or the kernel does not know. */
uint64_t jr_file_data(int fd, uint64_t offset, uint64_t size);

/* In the environment: the folder in which the launcher was started, where it
 * runs the reporter in another one. */
#define JR_WORK_FOLDER "JPROF_WORK_FOLDER"

/* A whole file in memory; a NUL follows the last byte. */
struct jr_bytes {
    uint8_t *data; /* freed by the caller */
    size_t size;
    struct stat info;
};

/* Reads the regular file `path` of at most `limit` bytes.  Returns 0, or -1
 * with *why set as by jr_file_open. */
int jr_file_read(const char *path, size_t limit, struct jr_bytes *bytes,
                 const char **why);

/* Whether two looks were at one file or folder. */
int jr_is_same_file(const struct stat *one, const struct stat *other);

/* The last component of a path, which it points into. */
const char *jr_base_name(const char *path);

#endif
