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

#include "base/mem.h"
#include "jp_limits.h"
#include "launcher/base/say.h"
#include "launcher/os/proc.h"

#define LIBRARY_NAME "libjprof.so"

int jl_preload_can(const char *library)
{
    return !strpbrk(library, " :");
}

/* A library whose name LD_PRELOAD cannot have is preloaded through a link.
 * Everybody may go through it: the program may become another user. */
static char *make_link(const char *library)
{
    char folder[] = "/tmp/jprof-XXXXXX", *link;

    if (!mkdtemp(folder))
        jl_fail(JR_FAILED, "%s: %s", folder, strerror(errno));
    link = jr_printf("%s/" LIBRARY_NAME, folder);
    if (chmod(folder, 0755) != 0 || symlink(library, link) != 0)
        jl_fail(JR_FAILED, "%s: %s", link, strerror(errno));
    return link;
}

/* The library's number as /proc/PID/maps has it; allocated. */
static char *inode_of(const char *library)
{
    struct stat info;

    if (stat(library, &info) != 0)
        jl_fail(JR_FAILED, "%s: %s", library, strerror(errno));
    return jr_printf(" %" PRIu64 " ", (uint64_t)info.st_ino);
}

void jl_preload_set(struct jl_preload *preload, struct jl_env *env,
                    const char *library)
{
    const char *old = jl_env_get(env, "LD_PRELOAD");
    char *list;

    *preload = (struct jl_preload){0};
    if (!library)
        return;
    if (!jl_preload_can(library)) {
        preload->inode = inode_of(library);
        library = preload->link = make_link(library);
    }
    /* jprof's library comes after those of the user: AddressSanitizer insists
     * on being first. */
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

/* Which folder the library may write to, where the path may lead to another;
 * and that path, for processes that may not use the launcher's descriptor, as
 * one in a user namespace of its own.  Allocated. */
static char *identity(const struct jl_folder *folder)
{
    struct stat info;
    char *path, *text;

    if (!folder->is_elsewhere)
        return jr_strdup("");
    if (fstat(folder->fd, &info) != 0)
        jl_fail(JR_FAILED, "%s: %s", folder->shown, strerror(errno));
    path = escape(folder->path);
    text = jr_printf(" " JP_FLAG_FOLDER "=%" PRIu64 ":%" PRIu64 ":%s",
                     (uint64_t)info.st_dev, (uint64_t)info.st_ino, path);
    free(path);
    return text;
}

int jl_flags_have(const char *flags, const char *word)
{
    static const char separators[] = " \t\r\n,;"; /* as preload/flags.c */

    while (flags && *flags) {
        const size_t length = strcspn(flags, separators);

        if (length == strlen(word) && memcmp(flags, word, length) == 0)
            return 1;
        flags += length + (flags[length] != '\0');
    }
    return 0;
}

void jl_flags_set(struct jl_env *env, const struct jl_options *options,
                  const struct jl_folder *folder)
{
    const char *old = jl_env_get(env, JP_ENV_FLAGS);
    char *path = jr_printf("%s/" JP_LOG_NAME, folder->given);
    char *name = escape(path), *id = identity(folder);
    char *ring = options->push
                     ? jr_printf(" JP_CIRCULAR=%" PRIu64, options->ring_bytes)
                     : jr_strdup("");
    char *flags = jr_printf(
        "JP_START JP_PERIOD=%" PRIu64 ".%09" PRIu64 "%s%s%s%s%s JP_FILENAME=%s"
        "%s",
        options->period_ns / 1000000000U, options->period_ns % 1000000000U,
        options->wall ? " JP_REALTIME" : "",
        options->no_args ? " JP_NO_ARGS" : "", ring, old && *old ? " " : "",
        old ? old : "", name, id);

    jl_env_set(env, JP_ENV_FLAGS, flags);
    jl_env_set(env, JP_ENV_CHILD, NULL); /* the program begins a new profile */
    free(flags);
    free(ring);
    free(id);
    free(name);
    free(path);
}

/* Whether the process is the user's. */
static int is_own(int dir)
{
    struct jl_status status = {0};
    size_t size;
    char *text = jl_proc_read(dir, "status", &size);

    if (text)
        jl_status_read(&status, text, size);
    free(text);
    return status.has_uids && status.uids[0] == geteuid();
}

/* Whether the process, which shows nothing, may be of this run. */
static int is_ours(int dir)
{
    int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ours;

    ours = is_own(dir) && (self < 0 || jl_proc_stat(dir, JL_STAT_BEGAN) >=
                                           jl_proc_stat(self, JL_STAT_BEGAN));
    if (self >= 0)
        close(self);
    return ours;
}

/* Whether the process, of which the kernel said `error`, has no memory, and so
 * starts nothing: it has ended and nobody asked how yet, or is the kernel's
 * own.  Where only its first thread has ended, the others have memory. */
static int is_empty(int dir, int error)
{
    return error == ESRCH && jl_proc_stat(dir, JL_STAT_THREADS) <= 1;
}

/* Whether this process may start others with the link: it was given it, or has
 * the library and may keep its variables where /proc does not show them, as
 * who changes his title does, or is of this run and shows nothing. */
static int may_use(const char *pid, const struct jl_preload *preload)
{
    const char *link = preload->link;
    char *path = jr_printf("/proc/%s", pid), *text;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), may;
    size_t size;

    free(path);
    if (dir < 0)
        return 0;
    text = jl_proc_read(dir, "environ", &size);
    may = text ? memmem(text, size, link, strlen(link)) != NULL
               : !is_empty(dir, errno) && is_ours(dir);
    free(text);
    text = may ? NULL : jl_proc_read(dir, "maps", &size);
    may |= text && jl_maps_have(text, size, LIBRARY_NAME) &&
           memmem(text, size, preload->inode, strlen(preload->inode));
    free(text);
    close(dir);
    return may;
}

static int is_used(const struct jl_preload *preload)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    int found = !processes;

    while (!found && (entry = readdir(processes)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            strtol(entry->d_name, NULL, 10) != (long)getpid())
            found = may_use(entry->d_name, preload);
    if (processes)
        closedir(processes);
    return found;
}

void jl_preload_drop(struct jl_preload *preload)
{
    if (preload->link && !is_used(preload)) {
        unlink(preload->link);
        *strrchr(preload->link, '/') = '\0';
        rmdir(preload->link);
    }
    free(preload->inode);
    free(preload->link);
    *preload = (struct jl_preload){0};
}
