/* SPDX-License-Identifier: MIT
 *
 * The text of JPROF_FLAGS -> struct jp_config.  Pure: no global, no system
 * call.
 * Runs in: constructor, tests. */
#ifndef JP_FLAGS_H
#define JP_FLAGS_H

#include <stddef.h>

#include "sig/state/config.h"

/* Called for each thing that is wrong: `flag` (length bytes of the text) and
 * what is wrong with it and happens now. */
typedef void jp_flags_complaint(void *data, const char *flag, size_t length,
                                const char *text);

/* Fills *config from `text` (NULL: no flags).  A flag that is unknown or
 * malformed is named to `complain` and passed over. */
void jp_flags_parse(const char *text, struct jp_config *config,
                    jp_flags_complaint *complain, void *data);

#endif
