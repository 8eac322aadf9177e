/* SPDX-License-Identifier: MIT
 *
 * A stream that compresses what is written to it.
 * Runs in: analyzer. */
#ifndef JR_ZIP_H
#define JR_ZIP_H

#include <stdio.h>

/* What is compressed: text, or numbers of Protocol Buffers. */
enum jr_zipped { JR_ZIPPED_TEXT, JR_ZIPPED_PROTO };

/* A stream whose text goes to `out` as one gzip member, the same bytes each
 * time.  The caller closes it with fclose, which ends the member and leaves
 * `out` open; errors stay in `out`.  Never NULL. */
FILE *jr_zip_open(FILE *out, enum jr_zipped kind);

#endif
