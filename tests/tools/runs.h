/* SPDX-License-Identifier: MIT
 *
 * The runs of a log, each with what was at which address when.
 * Runs in: tests. */
#ifndef TOOLS_RUNS_H
#define TOOLS_RUNS_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/log.h"
#include "read/map.h"
#include "symbol/symbol.h"

/* Calls `put` with each run of the log at `path` and its address space, which
 * is gone afterwards.  Returns an exit status. */
static inline int each_run(const char *path,
                           void (*put)(struct jr_space *space,
                                       const struct jr_log *log,
                                       const struct jr_run *run))
{
    struct jr_diag diag = {0};
    struct jr_symbols *symbols =
        jr_symbols_new(&diag, &(struct jr_symbols_options){0});
    struct jr_log log = {0};
    const char *slash = strrchr(path, '/');
    char *folder =
        slash ? jr_strndup(path, (size_t)(slash - path)) : jr_strdup("");
    const int error = jr_log_read(path, &log, &diag);

    for (size_t i = 0; error == 0 && i < log.nruns; i++) {
        const struct jr_run *run = &log.runs[i];
        char *name =
            jr_printf("%s%s%s", folder, slash ? "/" : "", run->header.map_name);
        struct jr_map map = {0};
        struct jr_space *space;

        jr_map_read(name, run->header.pid, run->header.start_ticks, &map,
                    &diag);
        space = jr_space_new(symbols, &map, folder);
        put(space, &log, run);
        jr_space_free(space);
        jr_map_free(&map);
        free(name);
    }
    free(folder);
    jr_log_free(&log);
    jr_symbols_free(symbols);
    return error == 0 ? 0 : 2;
}

#endif
