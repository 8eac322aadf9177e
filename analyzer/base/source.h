/* SPDX-License-Identifier: MIT
 *
 * A file, or bytes in memory, of which pieces are read now and then.  Between
 * two reads a file is held open only while no other needs its place: a report
 * may be of thousands of files.
 * Runs in: analyzer. */
#ifndef JR_SOURCE_H
#define JR_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct jr_source {
    char *path; /* NULL: memory */
    const uint8_t *memory;
    uint64_t size; /* bytes, when it was opened */
    uint64_t device, inode;
};

/* Takes the regular file at `path`, one of a profile (jr_file_read_for); fills
 * *info when it is not NULL.  Returns 0, or -1 with *why set as by
 * jr_file_open.  The caller frees *source with
 * jr_source_free in each case. */
int jr_source_open(struct jr_source *source, const char *path,
                   struct stat *info, const char **why);

/* Takes memory, which must live as long as *source. */
void jr_source_memory(struct jr_source *source, const uint8_t *data,
                      size_t size);
void jr_source_free(struct jr_source *source);

/* Reads up to `size` bytes at `offset`.  Returns how many were read: fewer at
 * the end, at an error, or when the path has another file by now. */
size_t jr_source_read(const struct jr_source *source, void *to, size_t size,
                      uint64_t offset);

/* Where at `offset` or behind it the next bytes are that were ever written:
 * the kernel knows of holes.  The size: there are none. */
uint64_t jr_source_data(const struct jr_source *source, uint64_t offset);

#endif
