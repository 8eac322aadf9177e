/* SPDX-License-Identifier: MIT
 *
 * Finds the role of a process in its arguments.
 * Runs in: analyzer. */
#include "role.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "figures.h"

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
