/* SPDX-License-Identifier: MIT
 *
 * Copies and removes files that a profiled program left.
 * Runs in: launcher. */
#ifndef JL_COPY_H
#define JL_COPY_H

#include <stddef.h>
#include <sys/stat.h>

#include "folder.h"

/* Copies `from` with its times to a file of its own in the folder, which then
 * takes the place of `name`, or has it.  Holes stay holes.  Returns 0 or -1. */
int jl_copy_file(const struct jl_folder *folder, int from, const char *name);

/* Writes all of text[0..size) to fd; returns 0, or -1 with errno. */
int jl_write_all(int fd, const char *text, size_t size);

/* Removes the file `name` in the folder that is open as `dir`, if it is a
 * regular one of the user's: the one that `known` tells of, or, with `known`
 * NULL, one without a second name.  Returns whether it is gone. */
int jl_remove_own(int dir, const char *name, const struct stat *known);

#endif
