/* SPDX-License-Identifier: MIT
 *
 * Bounds the disk that a profile takes whose program starts processes for
 * ever.
 * Runs in: launcher. */
#include "ended.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "jp_limits.h"
#include "jp_log.h"
#include "launcher/os/proc.h"
#include "read/names.h"

/* When the process began, in ticks; 0: there is none. */
static uint64_t began(uint32_t pid)
{
    char path[32];
    uint64_t ticks;
    int dir;

    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return 0;
    ticks = jl_proc_stat(dir, JL_STAT_BEGAN);
    close(dir);
    return ticks;
}

static void note(struct jl_ended *ended, const char *name)
{
    for (size_t i = 0; i < ended->count; i++)
        if (strcmp(ended->logs[i].name, name) == 0)
            return;
    *JR_PUSH(ended->logs, ended->count, ended->room) =
        (struct jl_ended_log){jr_strdup(name), jr_now_ns(CLOCK_MONOTONIC)};
}

void jl_ended_note(struct jl_ended *ended, const struct jl_folder *folder)
{
    struct jp_log_header *header = jr_alloc(1, sizeof *header);
    size_t count;
    char **names = jl_folder_list(folder, JP_LOG_NAME, &count);

    for (size_t i = 0; i < count; i++) {
        char *path = jr_printf("/proc/self/fd/%d/%s", folder->fd, names[i]);

        if (jr_is_numbered(names[i], JP_LOG_NAME) &&
            jr_header_read(path, header) == 0 &&
            began(header->pid) != header->start_ticks)
            note(ended, names[i]);
        free(path);
    }
    jl_folder_free_list(names, count);
    free(header);
}

/* Removes what belongs to the log: its map, and the files of code that lie
 * beside it. */
static void drop(const struct jl_folder *folder, const char *log)
{
    const char *number = log + sizeof JP_LOG_NAME - 1;
    char *map = jr_printf(JP_MAP_NAME "%s", number);
    char *prefix = jr_printf("%s.", log);
    size_t count;
    char **names = jl_folder_list(folder, prefix, &count);

    for (size_t i = 0; i < count; i++)
        unlinkat(folder->fd, names[i], 0);
    unlinkat(folder->fd, log, 0);
    unlinkat(folder->fd, map, 0);
    jl_folder_free_list(names, count);
    free(prefix);
    free(map);
}

void jl_ended_remove(struct jl_ended *ended, const struct jl_folder *folder,
                     uint64_t until_ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < ended->count; i++) {
        if (ended->logs[i].seen_ns >= until_ns) {
            ended->logs[kept++] = ended->logs[i];
            continue;
        }
        drop(folder, ended->logs[i].name);
        free(ended->logs[i].name);
    }
    ended->count = kept;
}
