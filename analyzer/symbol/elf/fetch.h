/* SPDX-License-Identifier: MIT
 *
 * Debug files and sources from the servers of DEBUGINFOD_URLS, by debuginfod's
 * own client.
 * Runs in: analyzer. */
#ifndef JR_FETCH_H
#define JR_FETCH_H

#include <stdint.h>

/* Shows that `what` was asked for since some milliseconds, of so many at most;
 * `what` NULL: no more. */
typedef void jr_fetch_show_fn(void *data, const char *what, uint64_t passed_ms,
                              uint64_t most_ms);

/* What was asked for so far in this report; without one of these no server is
 * asked. */
struct jr_fetch {
    jr_fetch_show_fn *show; /* NULL: nobody is shown anything */
    void *data;
    uint64_t used_ms;  /* of the time for all questions */
    unsigned fetched;  /* files */
    uint8_t has_ended; /* no more questions: the time is over or a server
                          failed */
};

/* Asks for the debug file with the build-id, in hex digits; `name` is what the
 * file is called when progress is shown.  Returns the path of the file in the
 * client's cache, which the caller frees, or NULL.  A server that does not
 * answer ends all questions, as the end of the time for them does; both are
 * said. */
char *jr_fetch_debug(struct jr_fetch *fetch, const char *digits,
                     const char *name);

/* The same of a source, by its whole path, of the file with the build-id. */
char *jr_fetch_source(struct jr_fetch *fetch, const char *digits,
                      const char *file);

#endif
