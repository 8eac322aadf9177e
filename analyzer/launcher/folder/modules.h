/* SPDX-License-Identifier: MIT
 *
 * Keeps the files of code that may be gone when the report is written, while
 * the program runs: those in folders for temporary files, deleted ones and
 * those that are only in memory (memfd_create).
 * Runs in: launcher.
 *
 * The map is data: a file is kept if the kernel says, too, that the process has
 * it mapped, and only under a name that is made up here. */
#ifndef JL_MODULES_H
#define JL_MODULES_H

#include "folder.h"

/* Bytes of such files that are kept of one process. */
#define JL_MODULES_MAX ((off_t)64 << 20)

struct jl_modules;

/* The folder must outlive it; jl_modules_end frees it. */
struct jl_modules *jl_modules_begin(const struct jl_folder *folder);

/* Keeps what the maps in the folder have named since the last look.  Returns in
 * how many ms the next look is due. */
int jl_modules_look(struct jl_modules *modules);

/* After the program's end: removes what is still at its own place, and says
 * what was too large to be kept. */
void jl_modules_end(struct jl_modules *modules);

#endif
