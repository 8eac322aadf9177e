/* SPDX-License-Identifier: MIT
 *
 * One HTTP request, by the program curl.
 * Runs in: launcher. */
#ifndef JL_CURL_H
#define JL_CURL_H

#include "spool.h"

/* What became of a message. */
enum jl_fate {
    JL_SENT,
    JL_REFUSED, /* the server will never take it */
    JL_LATER,   /* the server may take it later */
    JL_NEVER,   /* the server takes no message before the user changes
                   something */
};

struct jl_answer {
    enum jl_fate fate;
    char text[512]; /* why, for people; "" when it was sent */
};

/* The path of curl, allocated; that it is missing is said and ends the
 * launcher. */
char *jl_curl_find(void);

/* Sends a message that was taken from the spool.  Secrets are given to curl by
 * a file that only it has open, never as arguments. */
void jl_curl_send(const char *curl, const struct jl_destination *to,
                  const struct jl_spooled *spooled, struct jl_answer *answer);

#endif
