/* SPDX-License-Identifier: MIT
 *
 * The folders that a profile names, where it is the user's own: sources below
 * them may be read.  A profile of somebody else could name any folder.
 * Runs in: analyzer. */
#include "recorded.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/ours.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* The boot id as a log has it: 16 bytes.  Returns 0, or -1. */
static int read_boot_id(uint8_t id[16])
{
    struct stat info;
    char text[64] = "";
    const char *why;
    size_t digits = 0;
    int fd = jr_file_open(BOOT_ID, &info, &why);

    if (fd < 0)
        return -1;
    (void)jr_file_pread(fd, text, sizeof text - 1, 0);
    close(fd);
    memset(id, 0, 16);
    for (const char *at = text; *at && digits < 32; at++) {
        static const char hex[] = "0123456789abcdef";
        const char *digit = strchr(hex, *at);

        if (!digit)
            continue;
        id[digits / 2] =
            (uint8_t)(id[digits / 2] << 4 | (unsigned)(digit - hex));
        digits++;
    }
    return digits == 32 ? 0 : -1;
}

/* Whether the file is one that the user's own programs made: his, and nobody
 * else writes to it. */
static int is_own(const char *path)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);

    if (fd < 0)
        return 0;
    close(fd);
    return info.st_uid == geteuid() && jr_is_ours(&info, 0);
}

static void add(struct jr_recorded *recorded, const char *folder, size_t length)
{
    if (length == 0 || folder[0] != '/')
        return;
    for (size_t i = 0; i < recorded->count; i++)
        if (strlen(recorded->folders[i]) == length &&
            memcmp(recorded->folders[i], folder, length) == 0)
            return;
    if (recorded->count < JR_RECORDED_MAX)
        recorded->folders[recorded->count++] = jr_strndup(folder, length);
}

void jr_recorded_find(const struct jr_model *model, const char *const *logs,
                      size_t nlogs, struct jr_recorded *recorded)
{
    uint8_t boot[16];

    recorded->count = 0;
    if (read_boot_id(boot) != 0)
        return;
    for (size_t i = 0; i < nlogs; i++)
        if (!is_own(logs[i]))
            return;
    for (size_t i = 0; i < model->nprocesses; i++) {
        const struct jr_process *process = &model->processes[i];
        const struct jr_map *map = process->map;
        const char *slash = map->exe ? strrchr(map->exe, '/') : NULL;

        if (memcmp(process->run->header.boot_id, boot, sizeof boot) != 0 ||
            !map->path || !is_own(map->path))
            continue;
        if (map->cwd)
            add(recorded, map->cwd, strlen(map->cwd));
        if (slash)
            add(recorded, map->exe, (size_t)(slash - map->exe));
    }
}

void jr_recorded_free(struct jr_recorded *recorded)
{
    for (size_t i = 0; i < recorded->count; i++)
        free(recorded->folders[i]);
    recorded->count = 0;
}
