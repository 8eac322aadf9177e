/* SPDX-License-Identifier: MIT
 *
 * Tells before a program runs whether it can be profiled.
 * Runs in: launcher. */
#ifndef JL_CHECK_H
#define JL_CHECK_H

#include <stddef.h>

struct jl_check {
    const char *why; /* what will keep it from being profiled; NULL */
    char *shown;     /* words that say which program `why` is about */
    int no_preload;  /* the library must not even be preloaded */
};

/* Looks at the program at `path`, of a script at its interpreter, and says it
 * when it cannot be profiled by `library`.  The caller frees check->shown. */
void jl_check_program(struct jl_check *check, const char *path,
                      const char *library);

/* Up to `size` - 1 bytes from the start of the regular file `path` into
 * `text`, a NUL behind them; returns how many, 0 if it cannot be read. */
size_t jl_read_start(const char *path, char *text, size_t size);

#endif
