/* SPDX-License-Identifier: MIT
 *
 * Gives back the room on disk that logs have and do not use.
 * Runs in: launcher. */
#ifndef JL_TRIM_H
#define JL_TRIM_H

#include "folder.h"

/* Of each log in the folder that nobody writes to any more, what was reserved
 * and never written becomes a hole: a process that was killed could not do so
 * itself.  The logs' sizes and bytes stay as they are. */
void jl_trim_logs(const struct jl_folder *folder);

#endif
