/* SPDX-License-Identifier: MIT
 *
 * The map file: making its lines, and appending them.  No descriptor is kept,
 * since the program may close any: for each append, the file is opened by its
 * absolute path and checked to be the one that was made.
 * Runs in: handler, any thread. */
#ifndef JP_MAPFILE_H
#define JP_MAPFILE_H

#include <stdint.h>
#include <sys/stat.h>

#include "sig/os/text.h"

/* Room for a line without long values. */
#define JP_MAPFILE_SHORT 384

/* Makes the map at `path`, or with `append` continues the one that is there,
 * and writes `first` to it, the run's first line.  The string `path` is not
 * copied and must stay.  Returns 0 or -errno; -EEXIST when another file is
 * there. */
int jp_mapfile_create_sig(const char *path, int append, struct jp_text *first);

/* Has all lines from now on written as records into the shared area of the log
 * (share.h). */
void jp_mapfile_share_sig(void);

/* Whether there is a map: lines can be written. */
int jp_mapfile_ready_sig(void);

/* Forgets the map.  Called in a forked child. */
void jp_mapfile_reset_sig(void);

/* Whether a file is the map. */
int jp_mapfile_is_sig(const struct stat *info);

/* Opens the map for appending.  The caller closes the descriptor.  -errno when
 * there is no map file, or it is no longer the one that was made. */
int jp_mapfile_open_sig(void);

/* Begins a line in `text`: `TIME EVENT`, TIME in ns of CLOCK_MONOTONIC. */
void jp_mapfile_line_sig(struct jp_text *text, uint64_t time_ns,
                         const char *event);

/* Adds ` KEY=`, and the value where one is given: a string with %XX where
 * needed, a decimal or a hexadecimal number. */
void jp_mapfile_key_sig(struct jp_text *text, const char *key);
void jp_mapfile_string_sig(struct jp_text *text, const char *key,
                           const char *value);
void jp_mapfile_decimal_sig(struct jp_text *text, const char *key,
                            uint64_t value);
void jp_mapfile_hex_sig(struct jp_text *text, const char *key, uint64_t value);

/* Ends the line with a newline, cutting it if need be, and writes it to fd.  A
 * line that cannot be written there is written into the shared area of the log,
 * or, where there is none, counted as lost. */
void jp_mapfile_put_sig(int fd, struct jp_text *text);

/* Ends the line and writes it as jp_mapfile_put_sig does, to the map, which it
 * opens and closes itself. */
void jp_mapfile_append_sig(struct jp_text *text);

/* Writes the line of an event in the profile's course, if there is a map: with
 * ` n=NUMBER` unless number is negative, and with the process's CPU time if
 * with_cpu. */
void jp_mapfile_event_sig(const char *event, int64_t number, int with_cpu);

#endif
