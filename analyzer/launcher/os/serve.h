/* SPDX-License-Identifier: MIT
 *
 * Gives one file to a browser: HTTP on the loopback address alone, at a path
 * that cannot be guessed, to the pages of one origin.
 * Runs in: launcher. */
#ifndef JL_SERVE_H
#define JL_SERVE_H

#include <stdint.h>
#include <sys/types.h>

#define JL_SERVE_TOKEN 33 /* bytes of the path, with its NUL */

struct jl_serve {
    int listener;
    int file;           /* open for reading */
    uint64_t size;      /* of it */
    const char *origin; /* whose pages may read it */
    uint16_t port;
    char token[JL_SERVE_TOKEN];
    int sent; /* how often it was sent to its end */
};

/* Listens for who asks for `file`, which stays the caller's.  Returns 0, or -1
 * with errno.  The path is /TOKEN. */
int jl_serve_open(struct jl_serve *serve, int file, const char *origin);

/* Answers this user's programs until the viewer, a child, has ended and the
 * file has been sent, or a minute has passed since; a viewer that fails ends it
 * too.  Returns the viewer's exit status. */
int jl_serve_run(struct jl_serve *serve, pid_t viewer);

#endif
