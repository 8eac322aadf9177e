/* SPDX-License-Identifier: MIT
 *
 * A profile as one file: written by a format, unpacked for a report.
 * Runs in: analyzer. */
#ifndef JR_ARCHIVE_H
#define JR_ARCHIVE_H

#include "write/report.h"

/* The archive of the folder that the report's logs are in: a tar file,
 * compressed by Zstandard (doc/FORMAT.md, "The archive").  What cannot be
 * packed is said, and makes the report partial. */
jr_write_fn jr_write_archive;

/* Whether the file at `path` may be an archive: it is compressed so. */
int jr_archive_is(const char *path);

/* Archives that can be unpacked at once: the two sides of a comparison. */
#define JR_ARCHIVES 2

/* A folder with the files of an archive. */
struct jr_unpacked {
    char *folder; /* its path */
    char *names;  /* of the file of names in there */
};

/* Unpacks the archive at `path` to a new folder of the user's, below $TMPDIR or
 * /tmp, that nobody else can read.  Returns 0, or -1 after saying what is
 * wrong with it: nothing of a damaged one is used.  The folder is removed by
 * jr_archive_remove, and when a signal ends the program. */
int jr_archive_unpack(const char *path, struct jr_unpacked *unpacked);
void jr_archive_remove(struct jr_unpacked *unpacked);

#endif
