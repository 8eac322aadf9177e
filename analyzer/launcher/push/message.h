/* SPDX-License-Identifier: MIT
 *
 * A profile as a server wants it: path, type and body of an HTTP request.
 * Runs in: launcher. */
#ifndef JL_MESSAGE_H
#define JL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "launcher/base/destination.h"

/* One profile, as jprof-report wrote it (jp_push.h). */
struct jl_part {
    char type[8];               /* "cpu" or "wall" */
    uint64_t from_ns, until_ns; /* CLOCK_REALTIME */
    uint64_t stacks, samples, weight_ns;
    const uint8_t *data; /* gzipped pprof */
    size_t size;
};

/* A request. */
struct jl_message {
    char *path; /* behind the server's URL */
    char *type; /* Content-Type */
    uint8_t *body;
    size_t size;
};

/* Makes the request for a profile of `program`; freed with
 * jl_message_free. */
void jl_message_make(struct jl_message *message,
                     const struct jl_destination *to, const char *program,
                     const struct jl_part *part);
void jl_message_free(struct jl_message *message);

#endif
