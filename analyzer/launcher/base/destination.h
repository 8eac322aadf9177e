/* SPDX-License-Identifier: MIT
 *
 * Where profiles are sent: a server, labels, and the spool.
 * Runs in: launcher. */
#ifndef JL_DESTINATION_H
#define JL_DESTINATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

enum jl_server { JL_PYROSCOPE, JL_PARCA };

struct jl_label {
    char *key, *value;
};

struct jl_destination {
    uint8_t server;  /* enum jl_server */
    const char *url; /* without a slash at its end when it was checked; NULL:
                        not given */
    struct jl_label *labels;
    size_t nlabels, labels_room;
    const char *name;       /* name of the service; NULL: the program's name */
    const char *tenant;     /* X-Scope-OrgID; NULL */
    const char *token_file; /* NULL */
    const char *config;     /* further options of curl: a file; NULL */
    const char *spool;      /* folder; NULL: the user's */
    uint64_t spool_bytes;
};

/* Pyroscope, with a spool of 64 MiB. */
void jl_destination_init(struct jl_destination *to);
void jl_destination_free(struct jl_destination *to);

/* The options of a destination; a handler ends the launcher when a value is
 * wrong. */
struct jr_option_table jl_destination_options(struct jl_destination *to);

/* Prints these options for --help. */
void jl_destination_help(void);

/* Takes the URL; what is wrong with it, or with the labels for this server, is
 * said and ends the launcher.  Once, after all options. */
void jl_destination_check(struct jl_destination *to, const char *url);

/* Reads a size: a number that K, M or G may follow. Returns 0 if it is no
 * size. */
uint64_t jl_size(const char *text);

#endif
