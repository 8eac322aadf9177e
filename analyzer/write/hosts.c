/* SPDX-License-Identifier: MIT
 *
 * Names for the boots that logs tell of.
 * Runs in: analyzer. */
#include "hosts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A process of each machine. */
struct seen {
    uint32_t *first;
    size_t room;
};

static const struct jr_map *map_of(const struct jr_model *model,
                                   const struct seen *seen, size_t host)
{
    return model->processes[seen->first[host]].map;
}

static char *name_of(const struct jr_model *model, const struct seen *seen,
                     const struct jr_hosts *hosts, size_t host)
{
    const struct jr_map *map = map_of(model, seen, host);
    const uint32_t boot = (uint32_t)(map->boot >> 32);
    size_t alike = 0;

    if (!map->host || !*map->host)
        return jr_printf("machine %08" PRIx32, boot);
    for (size_t i = 0; i < hosts->count; i++) {
        const char *other = map_of(model, seen, i)->host;

        alike += other && strcmp(other, map->host) == 0;
    }
    return alike > 1 ? jr_printf("%s (boot %08" PRIx32 ")", map->host, boot)
                     : jr_strdup(map->host);
}

void jr_hosts_find(const struct jr_model *model, struct jr_hosts *hosts)
{
    struct seen seen = {0};
    struct jr_table boots = {0};

    *hosts = (struct jr_hosts){0};
    hosts->of = jr_alloc(model->nprocesses + 1, sizeof *hosts->of);
    for (uint32_t i = 0; i < model->nprocesses; i++) {
        const uint64_t boot = model->processes[i].map->boot;

        /* One that no boot is known of counts as one of the first machine. */
        hosts->of[i] =
            boot == 0 && hosts->count > 0
                ? 0
                : jr_table_put(&boots, boot, 0, (uint32_t)hosts->count);
        if (hosts->of[i] == hosts->count)
            *JR_PUSH(seen.first, hosts->count, seen.room) = i;
    }
    hosts->names = jr_alloc(hosts->count + 1, sizeof *hosts->names);
    for (size_t i = 0; i < hosts->count; i++)
        hosts->names[i] = name_of(model, &seen, hosts, i);
    free(seen.first);
    jr_table_free(&boots);
}

void jr_hosts_free(struct jr_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        free(hosts->names[i]);
    free(hosts->names);
    free(hosts->of);
    *hosts = (struct jr_hosts){0};
}

const char *jr_hosts_name(const struct jr_hosts *hosts, size_t process)
{
    return hosts->count > 1 ? hosts->names[hosts->of[process]] : NULL;
}
