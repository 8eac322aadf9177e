/* SPDX-License-Identifier: MIT
 *
 * Names of the log and the map, and whether a file in their place may go
 * (doc/FORMAT.md, "Names").
 * Runs in: handler, any thread. */
#ifndef JP_LOGNAME_H
#define JP_LOGNAME_H

#include <stdint.h>

#include "config.h"

/* Names tried before giving up. */
#define JP_LOGNAME_TRIES 1000U

struct jp_logname {
    char log[JP_PATH_MAX];
    char map[JP_PATH_MAX];
    const char *map_name;   /* the last part of map */
};

/* Builds the try-th pair of names.  Returns 0, -ENAMETOOLONG, or
 * -ENOENT when the name is relative to a folder that is not there. */
int jp_logname_build_sig(struct jp_logname *name, unsigned try);

/* Builds the path of the file of the tree that began with process `root`, in
 * name->map and name->map_name.  Returns likewise. */
int jp_logname_tree_sig(struct jp_logname *name, uint32_t root);

/* Who wrote the log that is open at `fd`. */
enum jp_logname_owner {
    JP_OWNER_FOREIGN,   /* not a log */
    JP_OWNER_ALIVE,     /* a process that may still write to it */
    JP_OWNER_GONE       /* a finished run */
};
enum jp_logname_owner jp_logname_owner_sig(int fd);

/* Fields of this process that name it for good; 0 or zeros when unknown. */
void jp_logname_self_sig(uint32_t *proc_pid, uint64_t *start_ticks,
                         uint8_t boot_id[16]);

#endif
