/* SPDX-License-Identifier: MIT
 *
 * The processes of a profile that is made: the logs of those that have ended
 * are removed once they were sent.
 * Runs in: launcher. */
#ifndef JL_ENDED_H
#define JL_ENDED_H

#include <stddef.h>
#include <stdint.h>

#include "launcher/folder/folder.h"

/* A log whose process was found ended at a time of CLOCK_MONOTONIC. */
struct jl_ended_log {
    char *name;
    uint64_t seen_ns;
};

/* The list; all zero is the empty one. */
struct jl_ended {
    struct jl_ended_log *logs;
    size_t count, room;
};

/* Adds the logs whose processes have ended since the last call. */
void jl_ended_note(struct jl_ended *ended, const struct jl_folder *folder);

/* Removes log, map and JIT files of processes that had ended before
 * `until_ns`. */
void jl_ended_remove(struct jl_ended *ended, const struct jl_folder *folder,
                     uint64_t until_ns);

#endif
