/* SPDX-License-Identifier: MIT
 *
 * Finds the files beside a log.
 * Runs in: analyzer. */
#ifndef JR_MAPNAME_H
#define JR_MAPNAME_H

/* The path of the map of the log at `log_path`, whose header names
 * it `map_name`: that file in the log's folder when the name is sound and the
 * file there, else the one that doc/FORMAT.md's names lead to.  NULL when there
 * is none.  The caller frees the result. */
char *jr_map_path(const char *log_path, const char *map_name);

/* The path of the file `name`, as a header has it, in the log's folder; NULL
 * when the name is not sound or no such file can be read.  Freed likewise. */
char *jr_file_beside(const char *log_path, const char *name);

/* The folder of a file, with its slash; "" for the current one.  The caller
 * frees the result. */
char *jr_folder_of(const char *path);

#endif
