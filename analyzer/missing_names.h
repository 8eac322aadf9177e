/* SPDX-License-Identifier: MIT
 *
 * Why a program's JIT code has no names, and the way out.
 * Runs in: analyzer. */
#ifndef JR_MISSING_NAMES_H
#define JR_MISSING_NAMES_H

#include "model/model.h"
#include "notes.h"

/* Adds a note for each process that has such frames and whose runtime is known.
 * Returns for how many. */
size_t jr_note_missing_names(const struct jr_model *model,
                             struct jr_notes *notes);

#endif
