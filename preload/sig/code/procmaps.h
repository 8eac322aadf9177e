/* SPDX-License-Identifier: MIT
 *
 * Reading /proc/self/maps, as a whole or, where the kernel can (Linux 6.11),
 * for one address.
 * Runs in: handler, any thread. */
#ifndef JP_PROCMAPS_H
#define JP_PROCMAPS_H

#include <stddef.h>
#include <stdint.h>

#define JP_PROT_READ 1U
#define JP_PROT_WRITE 2U
#define JP_PROT_EXEC 4U

struct jp_vma {
    uint64_t start, end;
    uint64_t offset;
    uint64_t inode;
    uint32_t major, minor;
    uint32_t prot; /* JP_PROT_* */
    char *path;    /* in the reader's buffer; not NUL-terminated */
    size_t path_length;
};

struct jp_procmaps {
    int fd;
    size_t at, end; /* unread part of the buffer */
    char buffer[8192];
};

/* Opens the file.  Returns 0 or -errno.  Close with jp_procmaps_close_sig. */
int jp_procmaps_open_sig(struct jp_procmaps *reader);
void jp_procmaps_close_sig(struct jp_procmaps *reader);

/* The next mapping; returns 1, or 0 at the end.  A line that is no mapping is
 * passed over. */
int jp_procmaps_next_sig(struct jp_procmaps *reader, struct jp_vma *vma);

/* The mapping around one address, without its path.  Returns 0, -ENOENT when
 * there is none, -ENOTTY when the kernel cannot tell, or another -errno. */
int jp_procmaps_query_sig(uint64_t address, struct jp_vma *vma);

/* Makes one number of all executable mappings of files, `most` at most: where
 * they are, and of which piece of which file.  Another number: something came
 * or went.  Costs a small part of reading the whole.  Returns 0, or -errno:
 * -ENOTTY when the kernel cannot tell. */
int jp_procmaps_mark_sig(uint32_t most, uint64_t *mark);

#endif
