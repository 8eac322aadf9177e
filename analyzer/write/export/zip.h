/* SPDX-License-Identifier: MIT
 *
 * A stream that compresses what is written to it.
 * Runs in: analyzer. */
#ifndef JR_ZIP_H
#define JR_ZIP_H

#include <stdio.h>

/* A stream whose text goes to `out` as one gzip member, the same bytes each
 * time.  The caller closes it with fclose, which ends the member and leaves
 * `out` open; errors stay in `out`.  Never NULL. */
FILE *jr_zip_open(FILE *out);

#endif
