/* SPDX-License-Identifier: MIT
 *
 * The log reader: bytes of a jprof-log -> runs of checked samples and stacks.
 * The format is that of doc/FORMAT.md and include/jp_log.h.
 * Runs in: analyzer. */
#ifndef JR_LOG_H
#define JR_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "run.h"

/* The bytes of a log. */
struct jr_log_bytes {
    const uint8_t *data; /* all of them; NULL: they are in the file */
    uint64_t size;
    int fd;
};

struct jr_log {
    char *path;
    struct jr_log_bytes bytes;
    struct stat info;  /* of the file, where it was read */
    uint8_t is_let_go; /* it is open only while it is read again */
    struct jr_run *runs;
    size_t nruns, runs_room;
};

/* Reads all of `path` into *log.  Damage is reported through jr_warn and
 * passed over.  Samples before header.cleared_ns are left out.  Returns 0, or
 * -1 when nothing could be read (no such file, no log, another byte order:
 * said with jr_warn).  The file stays open until jr_log_close.  The caller
 * frees *log with jr_log_free in each case. */
int jr_log_read(const char *path, struct jr_log *log, struct jr_diag *diag);

/* The same for a log that is in memory and stays there until jr_log_close;
 * `path` names it in messages. */
int jr_log_parse(const uint8_t *data, size_t size, const char *path,
                 struct jr_log *log, struct jr_diag *diag);

/* Frees what a walk over samples does not need: what stacks are, and sums. */
void jr_log_rest(struct jr_log *log);

/* Closes the file for a while, and opens it again, which returns -1 where it
 * is not there any more or another one.  A log that is in memory, or has no
 * file, stays as it is. */
void jr_log_let_go(struct jr_log *log);
int jr_log_take_up(struct jr_log *log);

/* Closes the file and frees what only a walk over samples needs; the runs'
 * headers and figures stay. */
void jr_log_close(struct jr_log *log);
void jr_log_free(struct jr_log *log);

#endif
