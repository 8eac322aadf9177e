/* SPDX-License-Identifier: MIT
 *
 * Keeping a file beside the log, by a link or a copy with a name of its own.
 * The functions are called under jit.c's lock.
 * Runs in: handler, any thread. */
#ifndef JP_JIT_KEEP_H
#define JP_JIT_KEEP_H

#include <stdint.h>

#include "sig/os/sys.h"
#include "sig/os/text.h"

/* The largest number at the end of a kept file's name. */
#define JP_KEEP_NUMBER_MAX 99U

/* A file that is or will be kept, as LOG.STEM-PID.SUFFIX or, when that name is
 * taken, LOG.STEM-PID-NUMBER.SUFFIX. */
struct jp_keep {
    const char *stem, *suffix; /* "perf", ".map" */
    uint32_t pid;
    uint32_t number;                  /* in the name; 0: no name yet */
    uint64_t inode;                   /* of the original; 0: nothing is kept */
    uint8_t linked;                   /* it is kept by a hard link, which grows
                                         with the original */
    uint64_t made_device, made_inode; /* of the file that is the copy */
};

/* The path of the kept file, in static memory until the next call; "" when it
 * is too long. */
const char *jp_keep_path_sig(const struct jp_keep *keep);

/* The kept file's name without the folder, in the same memory; NULL when
 * nothing is kept. */
const char *jp_keep_name_sig(const struct jp_keep *keep);

/* Makes a hard link to the file at `path`, unless there is one; info: what stat
 * says of the file.  Returns 0 or -errno: -EXDEV when it is on another file
 * system, -ESTALE when another file has come to the path. */
int jp_keep_link_sig(struct jp_keep *keep, const char *path,
                     const struct stat *info);

/* Copies at most `limit` bytes of the open file `from`, in place of the last
 * copy of the same original, which `inode` tells.  Returns 0 or -errno. */
int jp_keep_copy_sig(struct jp_keep *keep, int from, uint64_t inode,
                     uint64_t limit);

/* Does the same with a removed file of which only a mapping is left, *size
 * bytes at *memory; the mapping is enlarged if need be, and may move. */
int jp_keep_mapping_sig(struct jp_keep *keep, void **memory, uint64_t *size,
                        uint64_t inode, uint64_t limit);

/* Makes a file with the next free name.  Returns its descriptor, which the
 * caller closes, or -errno. */
int jp_keep_create_sig(struct jp_keep *keep);

/* Opens that file again for writing.  Returns its descriptor, which the caller
 * closes, or -errno; -ESTALE: another file has its name. */
int jp_keep_open_sig(const struct jp_keep *keep);

/* Puts a copy in the place of a link, since a later process may write to the
 * original.  Where no copy can be made, the link stays. */
void jp_keep_replace_link_sig(struct jp_keep *keep);

/* Adds to a line of the map ` dev=MAJOR:MINOR inode=N size=N`; if fd is the
 * open file, ` tail=` with a hash of its last bytes; and if it is kept, `
 * saved=` with the kept file's name. */
void jp_keep_put_sig(struct jp_text *text, const struct stat *info,
                     const struct jp_keep *keep, int fd);

#endif
