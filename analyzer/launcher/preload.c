/* SPDX-License-Identifier: MIT
 *
 * Sets LD_PRELOAD and JPROF_FLAGS.
 * Runs in: launcher. */
#include "preload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/file.h"
#include "../base/mem.h"
#include "jp_limits.h"
#include "say.h"

#define LIBRARY_NAME "/libjprof.so"
#define ENVIRON_SIZE ((size_t)1 << 20) /* of a process that is looked at */

/* The loader separates the names in LD_PRELOAD by blanks and colons and knows
 * no quoting, so a library in a folder with such a name is preloaded through a
 * link.  Everybody may go through it: the program may become another user. */
static char *make_link(const char *library)
{
    char folder[] = "/tmp/jprof-XXXXXX", *link;

    if (!mkdtemp(folder))
        jl_fail(JR_FAILED, "%s: %s", folder, strerror(errno));
    link = jr_printf("%s" LIBRARY_NAME, folder);
    if (chmod(folder, 0755) != 0 || symlink(library, link) != 0)
        jl_fail(JR_FAILED, "%s: %s", link, strerror(errno));
    return link;
}

void jl_preload_set(struct jl_preload *preload, struct jl_env *env,
                    const char *library)
{
    const char *old = jl_env_get(env, "LD_PRELOAD");
    char *list;

    *preload = (struct jl_preload){0};
    if (!library)
        return;
    if (strpbrk(library, " :"))
        library = preload->link = make_link(library);
    /* After those of the user: some runtimes insist on being first. */
    list = jr_printf("%s%s%s", old ? old : "", old && *old ? ":" : "", library);
    jl_env_set(env, "LD_PRELOAD", list);
    free(list);
}

/* The path with all bytes as %XX that could mean something in the flags;
 * allocated. */
static char *escape(const char *path)
{
    char *text = jr_alloc(3 * strlen(path) + 1, 1), *to = text;

    for (; *path; path++) {
        unsigned char byte = (unsigned char)*path;

        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9') || strchr("/._+-", byte))
            *to++ = (char)byte;
        else
            to += sprintf(to, "%%%02X", byte);
    }
    *to = '\0';
    return text;
}

void jl_flags_set(struct jl_env *env, const struct jl_options *options,
                  const struct jl_folder *folder)
{
    const char *old = jl_env_get(env, JP_ENV_FLAGS);
    char *path = jr_printf("%s/" JP_LOG_NAME, folder->given);
    char *name = escape(path);
    char *flags = jr_printf(
        "JP_START JP_PERIOD=%" PRIu64 ".%09" PRIu64 "%s%s%s%s JP_FILENAME=%s",
        options->period_ns / 1000000000U, options->period_ns % 1000000000U,
        options->wall ? " JP_REALTIME" : "",
        options->no_args ? " JP_NO_ARGS" : "", old && *old ? " " : "",
        old ? old : "", name);

    jl_env_set(env, JP_ENV_FLAGS, flags);
    jl_env_set(env, JP_ENV_CHILD, NULL); /* it is the first of a new profile */
    free(flags);
    free(name);
    free(path);
}

/* Whether this process was given the link. */
static int has_link(const char *pid, const char *link)
{
    char *path = jr_printf("/proc/%s/environ", pid), *bytes;
    int fd = open(path, O_RDONLY | O_CLOEXEC), found = 0;

    free(path);
    if (fd < 0)
        return 0;
    bytes = jr_alloc(ENVIRON_SIZE, 1);
    found = memmem(bytes, jr_file_pread(fd, bytes, ENVIRON_SIZE, 0), link,
                   strlen(link)) != NULL;
    free(bytes);
    close(fd);
    return found;
}

static int is_used(const char *link)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    int found = !processes;

    while (!found && (entry = readdir(processes)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            found = has_link(entry->d_name, link);
    if (processes)
        closedir(processes);
    return found;
}

void jl_preload_drop(struct jl_preload *preload)
{
    if (preload->link && !is_used(preload->link)) {
        unlink(preload->link);
        *strrchr(preload->link, '/') = '\0';
        rmdir(preload->link);
    }
    free(preload->link);
    preload->link = NULL;
}
