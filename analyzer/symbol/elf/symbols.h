/* SPDX-License-Identifier: MIT
 *
 * The files that symbols are read from.
 * Runs in: analyzer. */
#ifndef JR_SYMBOLS_H
#define JR_SYMBOLS_H

#include <stddef.h>

#include "base/diag.h"

/* All files read so far; shared by the processes of a report. */
struct jr_symbols;
struct jr_symbols *jr_symbols_new(struct jr_diag *diag);
void jr_symbols_free(struct jr_symbols *symbols);

/* Binaries whose build-id, or size and time, no longer match the map. */
size_t jr_symbols_changed(const struct jr_symbols *symbols);

#endif
