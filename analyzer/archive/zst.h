/* SPDX-License-Identifier: MIT
 *
 * Zstandard, by its library: a stream that compresses, and one that unpacks
 * within bounds.
 * Runs in: analyzer. */
#ifndef JR_ZST_H
#define JR_ZST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A stream whose text goes to `out` as one frame with a checksum, the same
 * bytes each time.  The caller closes it with fclose, which ends the frame and
 * leaves `out` open; errors stay in `out`.  Never NULL. */
FILE *jr_zst_open(FILE *out);

struct jr_unzst;

/* Unpacks the frame that `fd`, which stays the caller's, has from its start
 * on.  Never NULL. */
struct jr_unzst *jr_unzst_new(int fd);
void jr_unzst_free(struct jr_unzst *unzst);

/* Reads `size` bytes.  Returns how many were read: fewer at the end of the
 * frame, and then *why is NULL, or where it is damaged, cut, or unpacks to more
 * than a profile does. */
size_t jr_unzst_read(struct jr_unzst *unzst, void *to, size_t size,
                     const char **why);

#endif
