/* SPDX-License-Identifier: MIT
 *
 * What the command line of jprof-report asks for.
 * Runs in: analyzer. */
#ifndef JR_OPTIONS_H
#define JR_OPTIONS_H

#include <stddef.h>

#include "archive/archive.h"
#include "model/model.h"
#include "symbol/listing.h"

struct jr_options {
    const char *app;   /* the program that was profiled; NULL: what
                                   the first log says (profile.h) */
    const char **logs; /* or folders, until jr_profile_expand */
    size_t nlogs, logs_room;
    const char *output;     /* -o: file; NULL */
    const char *output_dir; /* NULL */
    const char *format;     /* its name; the caller checks it */
    const char **annotate;  /* --annotate: functions by name */
    size_t nannotate, annotate_room;
    struct jr_filter filter;
    struct jr_symbols_options symbols;
    const char **sources; /* --source-dir */
    size_t nsources, sources_room;
    struct jr_source_map *maps; /* --source-map; `from` is allocated */
    size_t nmaps, maps_room;
    uint64_t limit;     /* --limit, as in struct jr_report */
    const char *before; /* --diff: folder or log; NULL */
    const char *after;  /* then: the first operand that is one */
    size_t nbefore;     /* after jr_profile_expand: its logs, the last ones */
    int per;            /* --per: */
    double units[JR_SIDES];
    uint8_t merge, verbose;
    uint8_t debuginfod;        /* --debuginfod, or JPROF_DEBUGINFOD=1 */
    uint8_t unmasked;          /* --unmask */
    uint8_t profile;           /* --profile: no operand is a program */
    char *own_app, **own_logs; /* what of app and logs is allocated */
    size_t nown_logs, own_logs_room;
    char *own_folders;                        /* those of JPROF_DEBUG_PATH */
    struct jr_unpacked unpacked[JR_ARCHIVES]; /* archives among the operands */
    const char *names[JR_ARCHIVES];           /* their files of names */
    size_t nunpacked;
    uint8_t help, version;    /* asked for: nothing else counts */
    int has_section, has_end; /* --start or --end; --end was given */
    unsigned clocks; /* of --from and --to: bit 0, the profile's start; bit 1,
                        CLOCK_MONOTONIC */
};

#endif
