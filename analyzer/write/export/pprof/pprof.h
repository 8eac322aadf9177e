/* SPDX-License-Identifier: MIT
 *
 * A pprof profile while it is made: what samples refer to has ids 1, 2, 3, in a
 * stream those of locations in the order of addresses, else of first use.
 * Runs in: analyzer. */
#ifndef JR_PPROF_H
#define JR_PPROF_H

#include <stdio.h>

#include "model/model.h"
#include "proto.h"

/* Fields of a Profile (google/pprof, proto/profile.proto). */
enum jr_pprof_field {
    JR_PPROF_SAMPLE_TYPE = 1,
    JR_PPROF_SAMPLE,
    JR_PPROF_MAPPING,
    JR_PPROF_LOCATION,
    JR_PPROF_FUNCTION,
    JR_PPROF_STRING,
    JR_PPROF_TIME_NANOS = 9,
    JR_PPROF_DURATION_NANOS,
    JR_PPROF_PERIOD_TYPE,
    JR_PPROF_PERIOD,
    JR_PPROF_COMMENT,
    JR_PPROF_DEFAULT_SAMPLE_TYPE
};

struct jr_pprof {
    const struct jr_model *model;
    FILE *out;                      /* NULL: `body` keeps it all */
    struct jr_proto body;           /* what is written so far and not in out */
    struct jr_proto message, inner; /* scratch; the first is the caller's */
    struct jr_proto line;           /* scratch */
    char **strings;                 /* those that were written: UTF-8 */
    size_t nstrings, strings_room;
    struct jr_index by_string;
    const char **files;  /* by function; NULL: not known */
    uint32_t *functions; /* by function, plus one: the id; 0: none yet */
    uint32_t *mappings;  /* likewise by object */
    uint32_t *locations; /* likewise by chain */
    uint32_t *chains;    /* by node: its place and those it is inlined into */
    size_t nchains;
    uint32_t last_function, last_mapping, last_location;
    uint32_t *late_locations; /* nodes of those that are to be written; */
    uint32_t *late_functions; /* and functions, in the order of their ids */
    size_t nlate_locations, nlate_functions;
    size_t late_locations_room, late_functions_room;
};

/* An empty profile of a model with places. */
void jr_pprof_init(struct jr_pprof *pprof, const struct jr_model *model,
                   FILE *out);
void jr_pprof_free(struct jr_pprof *pprof);

/* Writes the string "" and the executable's mapping, which come first, and with
 * a stream numbers all locations.  Makes the profile empty before, if it is
 * not. */
void jr_pprof_begin(struct jr_pprof *pprof);

/* Indices and ids.  What has none yet is written at once where there is no
 * stream, so that `body` tells how large the profile is; else it waits for
 * jr_pprof_end: a row of samples is compressed best right behind another. */
uint64_t jr_pprof_string(struct jr_pprof *pprof, const char *text);
uint32_t jr_pprof_location(struct jr_pprof *pprof, uint32_t node);

/* Writes what waits, and gives the rest of `body` to `out`. */
void jr_pprof_end(struct jr_pprof *pprof);

/* The node below which that of `node`'s location is called; 0: the root. */
uint32_t jr_pprof_caller(const struct jr_pprof *pprof, uint32_t node);

/* Appends `message`, empties it, and gives `body` to `out`. */
void jr_pprof_put(struct jr_pprof *pprof, unsigned field);
void jr_pprof_put_number(struct jr_pprof *pprof, unsigned field,
                         uint64_t number);
void jr_pprof_put_type(struct jr_pprof *pprof, unsigned field, const char *type,
                       const char *unit);

#endif
