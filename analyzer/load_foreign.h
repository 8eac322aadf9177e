/* SPDX-License-Identifier: MIT
 *
 * Brings a profile of another tool into a model.
 * Runs in: analyzer. */
#ifndef JR_LOAD_FOREIGN_H
#define JR_LOAD_FOREIGN_H

#include "load.h"

/* Adds a profile of another tool (jr_foreign_is), likewise. */
int jr_load_foreign(struct jr_load *load, const char *path);

#endif
