/* SPDX-License-Identifier: MIT
 *
 * Keeps the JIT files of a program that has ended beside its log, as far as
 * the library has not done it: a killed program could not, and at a pause only
 * so much is copied.
 * Runs in: launcher.
 *
 * The map is data.  It tells which file a process wrote; but files are written
 * only under names that the launcher makes up, and removed only under names
 * that it makes up from the table and a process's number. */
#ifndef JL_KEEP_H
#define JL_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "folder.h"
#include "launcher/runtimes/request.h"

/* Where runtimes that take a folder write: in the profile's. */
#define JL_JIT_FOLDER "jit"

/* Saves what the maps in the folder name.  The files that only jprof
 * wants (request->removed) are then removed from where they were. */
void jl_keep_files(const struct jl_folder *folder,
                   const struct jl_request *request);

/* Removes what the process `pid` of this runtime, which was started and waited
 * for, wrote of its code by itself. */
void jl_keep_forget(const struct jl_runtime *runtime, uint32_t pid);

#endif
