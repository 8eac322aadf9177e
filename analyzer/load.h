/* SPDX-License-Identifier: MIT
 *
 * Brings the logs of one report together with their maps and symbols.
 * Runs in: analyzer. */
#ifndef JR_LOAD_H
#define JR_LOAD_H

#include "model/cover/cover.h"
#include "model/model.h"
#include "notes.h"
#include "read/log.h"
#include "read/map.h"
#include "read/tree.h"
#include "symbol/symbol.h"

/* What the model points into, so it stays where it is: a log, or the map and
 * space of a run; the others NULL. */
struct jr_held {
    struct jr_log *log;
    struct jr_map *map;
    struct jr_space *space;
};

struct jr_load {
    struct jr_diag *diag;
    struct jr_symbols *symbols;
    struct jr_held *held;
    size_t nheld, held_room;
    struct jr_notes gathered;
    char **notes;  /* for the reader of the report, in words; */
    size_t nnotes; /* after jr_load_finish */
    struct jr_model model;
    const char *app;                   /* as the user named the program */
    const struct jp_log_header *other; /* of the last run of another program */
    size_t nothers;                    /* such runs */
    struct jr_tree **trees; /* each for itself: the coverage points there */
    size_t ntrees, trees_room;
    struct jr_cover cover;
    struct jr_starts starts; /* for --from and --to */
    uint8_t *selected; /* by --process: a process was there; NULL: not asked */
    uint64_t boot;     /* of the run that was read last and knew it */
    size_t nopen;      /* logs that stay open, to be gone through again */
    uint8_t packed;    /* the log that is read now is of an archive */
    int merged;        /* the report is of whole trees of processes */
    int verbose;
};

/* An empty report of the program `app`; jr_load_free releases it all.  The
 * strings of filter and options, app and diag must outlive it. */
void jr_load_init(struct jr_load *load, const char *app,
                  const struct jr_filter *filter,
                  const struct jr_symbols_options *symbols,
                  struct jr_diag *diag);
void jr_load_free(struct jr_load *load);

/* Adds every run of the log at `path`.  Returns 0, or -1 when nothing of it
 * could be read (said on stderr). */
int jr_load_log(struct jr_load *load, const char *path);

/* Sums up, after the last log: completes the model and notes when processes
 * ran another program than app; says it on stderr too when all of them did. */
void jr_load_finish(struct jr_load *load);

#endif
