/* SPDX-License-Identifier: MIT
 *
 * Keeping a file beside the log under a name of its own.  The functions here
 * are called by one thread at a time (jit.c has the lock).
 * Runs in: handler, any thread. */
#ifndef JP_JIT_KEEP_H
#define JP_JIT_KEEP_H

#include <stdint.h>

#include "sig/os/sys.h"
#include "sig/os/text.h"

/* The largest number at the end of a kept file's name. */
#define JP_KEEP_NUMBER_MAX 99U

/* A file kept, or to be kept, as LOG.STEM-PID.SUFFIX, LOG.STEM-PID-2.SUFFIX...
 * */
struct jp_keep {
    const char *stem, *suffix; /* "perf", ".map" */
    uint32_t pid;
    uint32_t number;                  /* in the name; 0: no name yet */
    uint64_t inode;                   /* of the original; 0: nothing kept yet */
    uint8_t linked;                   /* by a hard link: complete for ever */
    uint64_t made_device, made_inode; /* of the file that was made for a copy */
};

/* The path of the kept file in static memory, valid until the next call. */
const char *jp_keep_path_sig(const struct jp_keep *keep);

/* Its name without the folder; NULL when nothing is kept. */
const char *jp_keep_name_sig(const struct jp_keep *keep);

/* A hard link to the file at `path`, which `info` is of, unless it has one.
 * Returns 0, or -errno: -EXDEV across file systems. */
int jp_keep_link_sig(struct jp_keep *keep, const char *path,
                     const struct stat *info);

/* A copy of at most `limit` bytes of the open file, in place of the last copy
 * of it; `inode` names the original.  Returns 0 or -errno. */
int jp_keep_copy_sig(struct jp_keep *keep, int from, uint64_t inode,
                     uint64_t limit);

/* The same of a file that is left in a mapping of `*size` bytes alone, which
 * grows with the need; *memory may move. */
int jp_keep_mapping_sig(struct jp_keep *keep, void **memory, uint64_t *size,
                        uint64_t inode, uint64_t limit);

/* Makes the next free name's file, for the caller to fill and to close.
 * Returns the descriptor or -errno. */
int jp_keep_create_sig(struct jp_keep *keep);

/* Opens it again for writing; -ESTALE: another file has its name. */
int jp_keep_open_sig(const struct jp_keep *keep);

/* Makes a copy of what a link keeps, in its place: a later process may write to
 * the original.  Where none can be made, the link stays. */
void jp_keep_replace_link_sig(struct jp_keep *keep);

/* Appends ` dev=MAJOR:MINOR inode= size=`, ` tail=` if `fd` is open, a hash of
 * the bytes up to there, and, where something is kept, ` saved=` to a line. */
void jp_keep_put_sig(struct jp_text *text, const struct stat *info,
                     const struct jp_keep *keep, int fd);

#endif
