/* SPDX-License-Identifier: MIT
 *
 * Which processes a report is of, and when their profile starts.
 * Runs in: analyzer. */
#include "select.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "mapname.h"
#include "model/span.h"
#include "read/names.h"
#include "write/figures.h"

static int is_text(const char *which, const char *text, size_t length)
{
    return strlen(which) == length && memcmp(which, text, length) == 0;
}

/* Whether a name, or a path, is of what has the first `length` bytes of
 * `path`. */
static int is_of(const char *which, const char *path, size_t length)
{
    const char *slash = memrchr(path, '/', length);
    const size_t folders = slash ? (size_t)(slash + 1 - path) : 0;

    return is_text(which, path, length) ||
           is_text(which, path + folders, length - folders);
}

/* Whether it is a pattern of the command, as that is or without the folders of
 * its first word, or is that word. */
static int is_of_command(const char *which, const char *command)
{
    const size_t first = strcspn(command, " ");
    const char *slash = memrchr(command, '/', first);

    return is_of(which, command, first) || fnmatch(which, command, 0) == 0 ||
           (slash && fnmatch(which, slash + 1, 0) == 0);
}

/* By pid; by the program's file, the name that it was started by (python3 is a
 * link to python3.11) or the one that the kernel knows (of a script; of what
 * names itself); by the command. */
static int is_about(const char *which, const struct jr_process *process)
{
    const char *exe = jr_exe_of(process), *comm = process->map->comm;
    const char *command = process->map->cmdline;
    char pid[16];

    if (*which == '\0')
        return 0;
    snprintf(pid, sizeof(pid), "%" PRIu32, process->run->header.pid);
    return strcmp(which, pid) == 0 || is_of(which, exe, strlen(exe)) ||
           (comm && is_of(which, comm, strlen(comm))) ||
           (command && is_of_command(which, command));
}

int jr_select_process(const struct jr_filter *filter, uint8_t *selected,
                      const struct jr_run *run, const struct jr_map *map)
{
    const struct jr_process process = {.run = run, .map = map};
    int is_selected = filter->nprocess == 0;

    for (size_t i = 0; i < filter->nprocess; i++)
        if (is_about(filter->process[i], &process)) {
            is_selected = 1;
            if (selected)
                selected[i] = 1;
        }
    return is_selected;
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
static void add_start(struct jr_starts *starts, const char *log,
                      const struct jp_log_header *header)
{
    struct jr_diag silent = {.silent = 1};
    struct jr_map map = {0};
    char *path = jr_map_path(log, header->map_name);
    int known = path && jr_map_read(path, header->pid, header->start_ticks,
                                    &map, &silent) == 0;

    jr_starts_add(starts, header, known ? &map : NULL);
    jr_map_free(&map);
    free(path);
}

void jr_select_starts(struct jr_starts *starts, const char *const *logs,
                      size_t count, size_t before)
{
    struct jp_log_header *header = jr_alloc(1, sizeof(*header));

    for (size_t i = 0; i < count; i++) {
        starts->side = i < before ? JR_AFTER : JR_BEFORE;
        if (jr_header_read(logs[i], header) == 0)
            add_start(starts, logs[i], header);
    }
    free(header);
}
