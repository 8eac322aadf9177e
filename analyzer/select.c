/* SPDX-License-Identifier: MIT
 *
 * Which processes a report is of, and when their profile starts.
 * Runs in: analyzer. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "load.h"
#include "read/names.h"
#include "write/figures.h"

/* By pid, by the base name of the program, by a pattern of the command. */
static int is_about(const char *which, const struct jr_process *process)
{
    const char *command = process->map->cmdline;
    char pid[16];

    snprintf(pid, sizeof(pid), "%" PRIu32, process->run->header.pid);
    return strcmp(which, pid) == 0 ||
           strcmp(which, jr_base_name(jr_exe_of(process))) == 0 ||
           (command && fnmatch(which, command, 0) == 0);
}

int jr_select_process(struct jr_load *load, const struct jr_run *run,
                      const struct jr_map *map)
{
    const struct jr_filter *filter = &load->model.filter;
    const struct jr_process process = {.run = run, .map = map};
    int selected = filter->nprocess == 0;

    for (size_t i = 0; i < filter->nprocess; i++)
        if (is_about(filter->process[i], &process)) {
            selected = 1;
            if (load->selected)
                load->selected[i] = 1;
        }
    return selected;
}

void jr_select_say(const struct jr_filter *filter, const uint8_t *selected)
{
    for (size_t i = 0; i < filter->nprocess; i++) {
        const char *which = filter->process[i];
        int is_pid = which[strspn(which, "0123456789")] == '\0';

        if (!selected[i])
            jr_say("--process %s: no process of this %s", which,
                   is_pid ? "number" : "name");
    }
}

/* Notes when the profile of the log's first process began. */
static void add_start(struct jr_load *load, const char *log,
                      const struct jp_log_header *header)
{
    struct jr_diag silent = {.silent = 1};
    struct jr_map map = {0};
    char *path = jr_map_path(log, header->map_name);
    int known = path && jr_map_read(path, header->pid, header->start_ticks,
                                    &map, &silent) == 0;

    jr_starts_add(&load->starts, header, known ? &map : NULL);
    jr_map_free(&map);
    free(path);
}

void jr_select_starts(struct jr_load *load, const char *const *logs,
                      size_t count, size_t before)
{
    struct jp_log_header *header = jr_alloc(1, sizeof(*header));

    for (size_t i = 0; i < count; i++) {
        load->starts.side = i < before ? JR_AFTER : JR_BEFORE;
        if (jr_header_read(logs[i], header) == 0)
            add_start(load, logs[i], header);
    }
    free(header);
    load->model.filter.starts = &load->starts;
}
