/* SPDX-License-Identifier: MIT
 *
 * The map file: its lines, and appending them.  No descriptor is kept: the
 * program may close any, so the file is opened by its absolute path for each
 * append and checked to be the one that was made.
 * Runs in: handler, any thread. */
#ifndef JP_MAPFILE_H
#define JP_MAPFILE_H

#include <stdint.h>
#include <sys/stat.h>

#include "sig/os/text.h"

/* Room for a line without long values. */
#define JP_MAPFILE_SHORT 384

/* Makes the map at `path` (kept: the caller's string must last), or goes on
 * in the existing one when `append`, and writes `first` to it, the run's first
 * line.  Returns 0 or -errno; -EEXIST when something else is there. */
int jp_mapfile_create_sig(const char *path, int append, struct jp_text *first);

/* From now on all lines are records of a run in the shared area. */
void jp_mapfile_share_sig(void);

/* Whether there is a map. */
int jp_mapfile_ready_sig(void);

/* Forgets the map, as a forked child does. */
void jp_mapfile_reset_sig(void);

/* Whether a file is the map. */
int jp_mapfile_is_sig(const struct stat *info);

/* Opens the map for appending; the caller closes the descriptor.  -errno when
 * there is none, or it is no longer the file that was made. */
int jp_mapfile_open_sig(void);

/* Begins a line `TIME EVENT` in text; adds ` KEY=`; ends it and writes it. */
void jp_mapfile_line_sig(struct jp_text *text, uint64_t time_ns,
                         const char *event);
void jp_mapfile_key_sig(struct jp_text *text, const char *key);
void jp_mapfile_string_sig(struct jp_text *text, const char *key,
                           const char *value);
void jp_mapfile_decimal_sig(struct jp_text *text, const char *key,
                            uint64_t value);
void jp_mapfile_hex_sig(struct jp_text *text, const char *key, uint64_t value);

/* Ends the line with a newline and writes it to fd.  What cannot be written
 * becomes a record of the log, if an area of it was mapped in advance; else it
 * is counted. */
void jp_mapfile_put_sig(int fd, struct jp_text *text);

/* As put, but opens and closes the map itself. */
void jp_mapfile_append_sig(struct jp_text *text);

/* One-line events of the profile's course, if there is a map; number < 0:
 * without. */
void jp_mapfile_event_sig(const char *event, int64_t number, int with_cpu);

#endif
