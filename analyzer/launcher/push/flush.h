/* SPDX-License-Identifier: MIT
 *
 * Sends what the spool has for a server.
 * Runs in: launcher. */
#ifndef JL_FLUSH_H
#define JL_FLUSH_H

#include "curl.h"

struct jl_flush {
    size_t sent, refused;  /* messages */
    size_t left;           /* that are still in the spool, for this server */
    uint64_t bytes;        /* that were sent */
    struct jl_answer last; /* of the last message that was not sent */
};

/* Sends the messages for the destination's URL, the oldest first, until one
 * does not go out after `tries` tries, with 1, 2, 4 and so on seconds between
 * them. */
void jl_flush_spool(struct jl_flush *flush, const char *curl,
                    const struct jl_destination *to, struct jl_spool *spool,
                    unsigned tries);

#endif
