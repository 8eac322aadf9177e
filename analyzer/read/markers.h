/* SPDX-License-Identifier: MIT
 *
 * The file of markers that Firefox writes: spans of a run.
 * Runs in: analyzer. */
#ifndef JR_MARKERS_H
#define JR_MARKERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "log.h"

#define JR_MARKERS_NAME "marker-" /* then a pid and ".txt" */

/* Whether a file of that name may be one. */
int jr_markers_is_name(const char *name);

/* Adds what the file at `path` says to the marks of the run.  Damage is
 * reported and passed over.  Returns 0, or -1 when it cannot be read. */
int jr_markers_read(const char *path, struct jr_run *run, struct jr_diag *diag);

/* The same for one that is in memory; `path` names it in messages. */
void jr_markers_parse(const uint8_t *data, size_t size, const char *path,
                      struct jr_run *run, struct jr_diag *diag);

#endif
