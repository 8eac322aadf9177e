/* SPDX-License-Identifier: MIT
 *
 * Names and headers by which a profile's files are known, without reading
 * them.
 * Runs in: analyzer, launcher. */
#ifndef JR_NAMES_H
#define JR_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "jp_log.h"

/* True for BASE, BASE-PID and BASE-PID-N: a log or map of that base. */
int jr_is_numbered(const char *name, const char *base);

/* True for a name that a kept JIT file may have: jprof-log..., no folder, and
 * neither a log nor anything else of the profile. */
int jr_is_kept_name(const char *name);

/* The name beside the log of a file of code that the launcher keeps as it may
 * be gone later: by its build-id or, with size 0, by inode and time of change
 * (0: not known).  The caller frees it. */
char *jr_module_name(const uint8_t *id, size_t size, uint64_t inode,
                     uint64_t mtime_ns);

/* Returns why a run with this header cannot be read, or NULL. */
const char *jr_header_refuse(const struct jp_log_header *header);

/* Closes the header's strings, which may lack their NULs, and bounds its
 * build-id. */
void jr_header_close(struct jp_log_header *header);

/* Reads the first header of the log at `path`, checked and closed.  Returns 0,
 * or -1 when the file is no log that can be read; *header then has what was
 * read, and what it had. */
int jr_header_read(const char *path, struct jp_log_header *header);

#endif
