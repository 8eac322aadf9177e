/* SPDX-License-Identifier: MIT
 *
 * The way to a file or folder: who could have laid it, or can change it.
 * Runs in: launcher. */
#ifndef JL_REACH_H
#define JL_REACH_H

/* Opens the folder that holds the last part of `name`, from folder to folder,
 * and makes those that are missing, as mkdir -p.  A link on the way is
 * followed only if root or the user made it and nobody else can put another
 * in its place.  Anything else is said and ends the launcher with status 2.
 * *last: that part, allocated; "." where there is none. */
int jl_reach(const char *name, char **last);

/* True if nobody but root and the user can rename or replace what lies at the
 * absolute `path`: all folders above it belong to one of the two and can be
 * written by nobody else.  Who became root by sudo counts as root. */
int jl_path_is_safe(const char *path);

/* The same of a file that is to be executed, which itself is such a one, too;
 * here nobody counts as another. */
int jl_file_is_safe(const char *path);

#endif
