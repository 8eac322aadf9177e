/* SPDX-License-Identifier: MIT
 *
 * Reading the kernel's list of mappings: all of /proc/self/maps or, by
 * PROCMAP_QUERY (Linux 6.11), the mapping around one address.
 * Runs in: handler, any thread. */
#ifndef JP_PROCMAPS_H
#define JP_PROCMAPS_H

#include <stddef.h>
#include <stdint.h>

#define JP_PROT_READ 1U
#define JP_PROT_WRITE 2U
#define JP_PROT_EXEC 4U

/* One mapping. */
struct jp_vma {
    uint64_t start, end;
    uint64_t offset;
    uint64_t inode;
    uint32_t major, minor;
    uint32_t prot; /* JP_PROT_* */
    char *path;    /* in the reader's buffer, valid until the next mapping is
                      read; not NUL-terminated */
    size_t path_length;
};

/* A reader of the list. */
struct jp_procmaps {
    int fd;
    size_t at, end; /* the unread part of the buffer */
    char buffer[8192];
};

/* Opens the list.  Returns 0, and the caller closes the reader, or -errno. */
int jp_procmaps_open_sig(struct jp_procmaps *reader);
void jp_procmaps_close_sig(struct jp_procmaps *reader);

/* Reads the next mapping into *vma.  Returns 1, or 0 at the end.  Skips lines
 * that are no mapping. */
int jp_procmaps_next_sig(struct jp_procmaps *reader, struct jp_vma *vma);

/* Asks the kernel for the mapping around one address, without its path.
 * Returns 0, -ENOENT when there is none, -ENOTTY when the kernel knows no
 * PROCMAP_QUERY, or another -errno. */
int jp_procmaps_query_sig(uint64_t address, struct jp_vma *vma);

/* Sets *mark to a hash of all executable mappings of files, at most `most`:
 * their addresses and the parts of files there.  When the hash differs from an
 * earlier one, a mapping came or went.  Much cheaper than reading the list.
 * Returns 0 or -errno: -ENOTTY when the kernel knows no PROCMAP_QUERY. */
int jp_procmaps_mark_sig(uint32_t most, uint64_t *mark);

#endif
