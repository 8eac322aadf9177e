/* SPDX-License-Identifier: MIT
 *
 * Writes what was found out of files, so that it can be read without them
 * (symbol/archived).
 * Runs in: analyzer. */
#ifndef JR_ARCHIVE_NAMES_H
#define JR_ARCHIVE_NAMES_H

#include <stdio.h>

#include "symbols.h"

/* The paths of the files with code that has no name, each once: an array of
 * *count that the caller frees. */
const char **jr_archive_nameless(struct jr_symbols *symbols, size_t *count);

/* Source files whose texts go with them, numbered from 1 on. */
struct jr_archive_sources {
    const char **files; /* as frames name them */
    size_t count, room;
};

/* The source files of all addresses that were looked up, some more than once:
 * an array of *count that the caller frees. */
const char **jr_archive_files(struct jr_symbols *symbols, size_t *count);

/* Writes the names of all addresses that were looked up, and the packages of
 * those `count` files (NULL: not known). */
void jr_archive_names(struct jr_symbols *symbols, const char *const *paths,
                      char *const *packages, size_t count,
                      const struct jr_archive_sources *sources, FILE *out);

#endif
