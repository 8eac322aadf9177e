/* SPDX-License-Identifier: MIT
 *
 * Finds the role of a process in its arguments, and names for the boots that
 * logs tell of.
 * Runs in: analyzer. */
#include "who.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "figures.h"
#include "model/build.h"

#define LONGEST 60

/* The rest of the word behind `key`; NULL when it is not there. */
static char *value_of(const char *cmdline, const char *key)
{
    const char *at = strstr(cmdline, key);

    return at ? jr_strndup(at + strlen(key), strcspn(at + strlen(key), " "))
              : NULL;
}

/* Chromium's processes: --type=, and what a utility is for. */
static char *of_chromium(const char *cmdline)
{
    char *type = value_of(cmdline, " --type=");
    char *use = value_of(cmdline, " --utility-sub-type="), *both;

    if (!type || !use || strcmp(type, "utility") != 0) {
        free(use);
        return type;
    }
    both = jr_printf("%s %s", type, use);
    free(type);
    free(use);
    return both;
}

/* Firefox's: the last argument, and the name that the process has. */
static char *of_firefox(const char *cmdline, const struct jr_process *process)
{
    const char *last = strrchr(cmdline, ' ');
    const char *name = jr_thread_name(process, process->run->header.pid);

    if (!strstr(cmdline, " -contentproc ") || !last || !last[1])
        return NULL;
    if (!name)
        name = process->map->comm;
    if (!name || !*name || !strcmp(name, last + 1) ||
        !strncmp(jr_base_name(jr_exe_of(process)), name, strlen(name)))
        return jr_strdup(last + 1);
    return jr_printf("%s %s", last + 1, name);
}

/* A title: `postgres: checkpointer`, `nginx: worker process`. */
static char *of_title(const char *cmdline)
{
    const size_t first = strcspn(cmdline, " ");

    return first > 1 && cmdline[first - 1] == ':' && cmdline[first]
               ? jr_strdup(cmdline + first + 1)
               : NULL;
}

char *jr_role_of(const struct jr_process *process)
{
    const char *cmdline = process->map->cmdline;
    char *role;

    if (!cmdline)
        return NULL;
    role = of_title(cmdline);
    if (!role)
        role = of_chromium(cmdline);
    if (!role)
        role = of_firefox(cmdline, process);
    if (role && strlen(role) > LONGEST)
        role[LONGEST] = '\0';
    if (role && !*role) {
        free(role);
        role = NULL;
    }
    return role;
}

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
    for (size_t i = 0; seen.first && i < hosts->count; i++)
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
