/* SPDX-License-Identifier: MIT
 *
 * Reading the text of JPROF_FLAGS into a struct jp_config, without globals or
 * system calls.
 * Runs in: constructor, tests. */
#ifndef JP_FLAGS_H
#define JP_FLAGS_H

#include <stddef.h>

#include "sig/state/config.h"

/* Called for each flag that is wrong.  flag, length: the flag in the text, not
 * NUL-terminated; text: what is wrong with it and what happens now. */
typedef void jp_flags_complaint(void *data, const char *flag, size_t length,
                                const char *text);

/* Fills *config from `text`; NULL: no flags.  Calls `complain` with `data` for
 * each flag that is unknown or malformed, which is ignored or given another
 * value. */
void jp_flags_parse(const char *text, struct jp_config *config,
                    jp_flags_complaint *complain, void *data);

#endif
