/* SPDX-License-Identifier: MIT
 *
 * Why a program's JIT code has no names, and the way out.
 * Runs in: analyzer. */
#ifndef JR_MISSING_NAMES_H
#define JR_MISSING_NAMES_H

#include "model/model.h"
#include "notes.h"

/* Adds a note for each process that has such frames and whose runtime is known.
 * Returns what the first one says, NULL if there is none; *is_library: that
 * code can only be a library's, whatever the runtime was asked for. */
const char *jr_note_missing_names(const struct jr_model *model,
                                  struct jr_notes *notes, int *is_library);

#endif
