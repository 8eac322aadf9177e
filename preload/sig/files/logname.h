/* SPDX-License-Identifier: MIT
 *
 * Names of the log and the map (doc/FORMAT.md, "Names").
 * Runs in: handler, any thread. */
#ifndef JP_LOGNAME_H
#define JP_LOGNAME_H

#include <stdint.h>

#include "sig/state/config.h"

/* How many pairs of names are tried. */
#define JP_LOGNAME_TRIES 1000U

struct jp_logname {
    char log[JP_PATH_MAX];
    char map[JP_PATH_MAX];
    const char *map_name; /* the last part of map */
};

/* Names the folder that JP_FILENAME is in to jp_sys_guard; if JP_FOLDER_ID
 * identifies it, nothing is written to another one.  Called once, by the
 * constructor. */
void jp_logname_guard(void);

/* Builds the try-th pair of names, from 0.  Returns 0, -ENAMETOOLONG, or
 * -ENOENT when the name is relative to a folder that was deleted. */
int jp_logname_build_sig(struct jp_logname *name, unsigned try);

/* Builds the path of the file of the process tree that began with process
 * `root`, in name->map and name->map_name.  Returns as jp_logname_build_sig. */
int jp_logname_tree_sig(struct jp_logname *name, uint32_t root);

#endif
