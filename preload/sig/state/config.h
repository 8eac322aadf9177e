/* SPDX-License-Identifier: MIT
 *
 * What JPROF_FLAGS asked for.  flags.c fills it before any signal comes;
 * afterwards it is constant, but for `depth` and `walker`, which init.c lowers
 * to what can be had, and `ring_bytes` of a process that shares a log.
 * Runs in: everywhere (types only). */
#ifndef JP_CONFIG_H
#define JP_CONFIG_H

#include <stdint.h>

#include "jp_limits.h"
#include "jp_log.h"

#define JP_PATH_MAX 4096
#define JP_NAME_MAX 1024

struct jp_config {
    uint8_t wanted;       /* JP_START or JP_DEFER was given */
    uint8_t deferred;     /* JP_DEFER */
    uint8_t realtime;     /* JP_REALTIME */
    uint8_t append;       /* JP_APPEND */
    uint8_t no_args;      /* JP_NO_ARGS: only a command line's first word is
                             written down */
    uint32_t walker;      /* enum jp_walker */
    uint32_t depth;       /* frames */
    uint32_t clock;       /* JP_CLOCK, enum jp_clock; JP_CLOCK_NONE: auto */
    uint32_t rtc_hz;      /* JP_RTC_HZ; 0: not given */
    uint8_t pause_signal; /* JP_PAUSE_SIGNAL and its siblings; 0: none */
    uint8_t clear_signal;
    uint8_t save_signal;
    uint8_t start_signal;
    uint64_t first_ns;      /* JP_FIRST; 0: start at once */
    uint64_t period_ns;     /* the sampling period asked for */
    uint64_t ring_bytes;    /* JP_CIRCULAR; 0: no ring */
    uint64_t folder_device; /* JP_FOLDER_ID: the folder that filename must be */
    uint64_t folder_inode;  /* in; inode 0: any folder will do */
    char filename[JP_NAME_MAX]; /* JP_FILENAME; "": the default name */
    char folder[JP_NAME_MAX];   /* JP_FOLDER_ID: another path to it; "": none */
    char flags[JP_NAME_MAX];    /* JPROF_FLAGS itself, for the log's header */
};

extern struct jp_config jp_config;

#endif
