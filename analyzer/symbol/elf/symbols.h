/* SPDX-License-Identifier: MIT
 *
 * The files that symbols are read from.
 * Runs in: analyzer. */
#ifndef JR_SYMBOLS_H
#define JR_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "options.h"

/* All files read so far; shared by the processes of a report. */
struct jr_symbols;
struct jr_symbols *jr_symbols_new(struct jr_diag *diag,
                                  const struct jr_symbols_options *options);
void jr_symbols_free(struct jr_symbols *symbols);

/* Binaries whose build-id, or size and time, no longer match the map. */
size_t jr_symbols_changed(const struct jr_symbols *symbols);

/* Whether there are archives, and the package that one has for the file at
 * `path`, NULL: none. */
int jr_symbols_are_archived(const struct jr_symbols *symbols);
const char *jr_symbols_package(const struct jr_symbols *symbols,
                               const char *path);

/* The number of the file of an archive that has the text of a source file, by
 * the name that frames have for it, and where the archive's names are: the file
 * is beside them.  0: none. */
uint32_t jr_symbols_source(const struct jr_symbols *symbols, const char *file,
                           const char **names);

/* The path of such a file in the cache of debuginfod's client, fetched where
 * options.folders say so; the caller frees it.  NULL: none. */
char *jr_symbols_fetched_source(const struct jr_symbols *symbols,
                                const char *file);

#endif
