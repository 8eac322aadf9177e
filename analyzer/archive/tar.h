/* SPDX-License-Identifier: MIT
 *
 * The heads of files in a tar archive (POSIX.1-1988, "ustar").
 * Runs in: analyzer. */
#ifndef JR_TAR_H
#define JR_TAR_H

#include <stdint.h>

#define JR_TAR_BLOCK 512
#define JR_TAR_NAME_MAX 100                       /* bytes of a name */
#define JR_TAR_SIZE_MAX ((UINT64_C(1) << 33) - 1) /* eleven octal digits */

struct jr_tar_file {
    char name[JR_TAR_NAME_MAX + 1];
    uint64_t size;
    uint64_t mtime; /* seconds of the epoch */
};

/* Fills the head of a regular file of mode 0600; its name and size fit. */
void jr_tar_put(const struct jr_tar_file *file, uint8_t block[JR_TAR_BLOCK]);

/* Takes a head apart.  Returns 0; 1 for a block of zeros, which ends the
 * archive; or -1 with *why set: no head, a damaged one, or one of what is no
 * regular file. */
int jr_tar_take(const uint8_t block[JR_TAR_BLOCK], struct jr_tar_file *file,
                const char **why);

#endif
