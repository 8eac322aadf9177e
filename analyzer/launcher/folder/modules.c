/* SPDX-License-Identifier: MIT
 *
 * Keeps the files of code that may be gone when the report is written.
 * Runs in: launcher. */
#include "modules.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "copy.h"
#include "jp_limits.h"
#include "jp_map.h"
#include "launcher/base/say.h"
#include "read/line.h"
#include "read/names.h"

#define LOOK_MS 200             /* between two looks, at least */
#define SHARE 20                /* and so many times what the last one took */
#define PIECE ((size_t)1 << 20) /* bytes of a map that one look reads */
#define FILES_MAX 1000          /* that are kept */

/* A map that grows. */
struct source {
    char *name;
    off_t at;   /* what was read of it */
    off_t kept; /* bytes of files that are kept of its process */
    uint32_t pid;
};

/* A file that was found. */
struct found {
    char *name; /* in the folder */
    char *path; /* where it was; "": it had no name any more */
    struct stat info;
    int is_kept; /* else it is too large */
};

struct jl_modules {
    const struct jl_folder *folder;
    struct source *sources;
    size_t nsources, sources_room;
    struct found *found;
    size_t nfound, found_room;
    struct jr_line line;
    char piece[PIECE];
};

/* A module as a line of a map has it. */
struct module {
    char *path, *name;
    uint64_t start, inode;
    int is_deleted;
};

struct jl_modules *jl_modules_begin(const struct jl_folder *folder)
{
    struct jl_modules *modules = jr_alloc(1, sizeof *modules);

    modules->folder = folder;
    return modules;
}

/* Whether a file of this path may not be there for long. */
static int may_go(const char *path)
{
    static const char *const folders[] = {"/tmp/", "/var/tmp/", "/dev/shm/",
                                          "/run/", "/memfd:"};
    const char *own = getenv("TMPDIR");
    const size_t length = own ? strlen(own) : 0;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return 1;
    return length > 1 && own[0] == '/' && strncmp(path, own, length) == 0;
}

/* The build-id in a line; its size, 0: it has none. */
static size_t take_id(const struct jr_line *line, uint8_t id[32])
{
    const struct jr_line_pair *pair = jr_line_find(line, "build_id");
    size_t size = 0;

    for (size_t i = 0; pair && i + 1 < pair->length && size < 32; i += 2) {
        uint64_t byte;

        if (jr_parse_number(pair->value + i, 2, 16, &byte) < 0)
            return 0;
        id[size++] = (uint8_t)byte;
    }
    return size;
}

/* Returns 0 where the line tells of no file that may go. */
static int take_module(const struct jr_line *line, struct module *module)
{
    uint8_t id[32];
    uint64_t deleted = 0, mtime_ns = 0;

    *module = (struct module){.path = jr_line_text(line, "path")};
    (void)jr_line_number(line, "deleted", 10, &deleted);
    (void)jr_line_number(line, "mtime", 10, &mtime_ns);
    if (module->path && module->path[0] == '/' &&
        (deleted || may_go(module->path)) &&
        jr_line_number(line, "start", 16, &module->start) == 0 &&
        jr_line_number(line, "inode", 10, &module->inode) == 0) {
        module->is_deleted = deleted != 0;
        module->name =
            jr_module_name(id, take_id(line, id), module->inode, mtime_ns);
        return 1;
    }
    free(module->path);
    return 0;
}

/* Finds the mapping of a module in /proc/PID/maps.  Returns 0, or -1 when the
 * process has no such mapping. */
static int find_mapping(uint32_t pid, const struct module *module,
                        uint64_t *start, uint64_t *end)
{
    char path[64], *line = NULL;
    size_t room = 0;
    uint64_t inode;
    int result = -1;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
    maps = fopen(path, "re");
    while (maps && result < 0 && getline(&line, &room, maps) > 0)
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %*x:%*x %" SCNu64,
                   start, end, &inode) == 3 &&
            *start <= module->start && module->start < *end &&
            inode == module->inode)
            result = 0;
    if (maps)
        fclose(maps);
    free(line);
    return result;
}

/* Opens the file at one of its places if it is the one that is mapped. */
static int open_place(const char *path, const struct module *module,
                      struct stat *info)
{
    int at = open(path, O_PATH | O_CLOEXEC), fd = -1;
    char magic[4];

    if (at < 0)
        return -1;
    if (fstat(at, info) == 0 && S_ISREG(info->st_mode) &&
        info->st_ino == module->inode)
        fd = jr_file_open_again(at, path, info);
    close(at);
    if (fd >= 0 && (jr_file_pread(fd, magic, sizeof magic, 0) < sizeof magic ||
                    memcmp(magic, "\177ELF", sizeof magic) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Opens the file of a module: by the mapping (which the kernel lets root do),
 * by its path, or as the executable. */
static int open_module(uint32_t pid, const struct module *module,
                       struct stat *info)
{
    uint64_t start, end;
    char *places[3];
    int fd = -1;

    if (find_mapping(pid, module, &start, &end) != 0)
        return -1;
    places[0] = jr_printf("/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
                          pid, start, end);
    places[1] = jr_printf("/proc/%" PRIu32 "/root%s", pid, module->path);
    places[2] = jr_printf("/proc/%" PRIu32 "/exe", pid);
    for (size_t i = 0; i < 3; i++) {
        if (fd < 0)
            fd = open_place(places[i], module, info);
        free(places[i]);
    }
    return fd;
}

/* Has a new file share the blocks of `fd`, where the file system can. */
static int clone_file(const struct jl_folder *folder, int fd, const char *name)
{
    char *temporary;
    const int to = jl_folder_temporary(folder, &temporary);
    int failed = to < 0 || ioctl(to, FICLONE, fd) != 0 ||
                 renameat(folder->fd, temporary, folder->fd, name) != 0;

    if (to >= 0) {
        close(to);
        if (failed)
            unlinkat(folder->fd, temporary, 0);
    }
    free(temporary);
    return failed ? -1 : 0;
}

static int keep_file(const struct jl_folder *folder, int fd, const char *name)
{
    char path[64];

    if (clone_file(folder, fd, name) == 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, folder->fd, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return jl_copy_file(folder, fd, name);
}

static int is_known(const struct jl_modules *modules, const char *name)
{
    for (size_t i = 0; i < modules->nfound; i++)
        if (strcmp(modules->found[i].name, name) == 0)
            return 1;
    return 0;
}

/* Keeps a module's file, unless that was done or is too much. */
static void keep(struct jl_modules *modules, struct source *source,
                 struct module *module)
{
    struct found found = {.name = module->name};
    int fd = -1;

    if (modules->nfound < FILES_MAX && !is_known(modules, module->name) &&
        !jl_folder_has(modules->folder, module->name))
        fd = open_module(source->pid, module, &found.info);
    if (fd < 0) {
        free(module->name);
        return;
    }
    if (found.info.st_size <= JL_MODULES_MAX - source->kept) {
        found.is_kept = keep_file(modules->folder, fd, module->name) == 0;
        source->kept += found.is_kept ? found.info.st_size : 0;
    }
    found.path = jr_strdup(module->is_deleted ? "" : module->path);
    *JR_PUSH(modules->found, modules->nfound, modules->found_room) = found;
    close(fd);
}

static int begins(const char *text, size_t length, const char *event)
{
    const size_t time = strspn(text, "0123456789"), size = strlen(event);

    return length > time + size + 2 && text[time] == ' ' &&
           memcmp(text + time + 1, event, size) == 0 &&
           text[time + 1 + size] == ' ';
}

static void take_line(struct jl_modules *modules, struct source *source,
                      const char *text, size_t length)
{
    const int is_process = begins(text, length, JP_MAP_PROCESS);
    struct module module;
    uint64_t pid;

    if ((!is_process && !begins(text, length, JP_MAP_MODULE)) ||
        jr_line_parse(&modules->line, text, length) < 0)
        return;
    if (is_process) {
        if (jr_line_number(&modules->line, "pid", 10, &pid) == 0 &&
            pid <= INT32_MAX)
            source->pid = (uint32_t)pid;
    } else if (source->pid && take_module(&modules->line, &module)) {
        keep(modules, source, &module);
        free(module.path);
    }
}

/* Reads what a map has more than at the last look, whole lines. */
static void look_at(struct jl_modules *modules, struct source *source)
{
    struct stat info;
    const int fd =
        jl_folder_open(modules->folder, source->name, O_RDONLY, 1, &info);
    size_t got, at = 0;

    if (fd < 0)
        return;
    got = info.st_size > source->at
              ? jr_file_pread(fd, modules->piece, PIECE, (uint64_t)source->at)
              : 0;
    close(fd);
    while (at < got) {
        const char *newline = memchr(modules->piece + at, '\n', got - at);
        const size_t length =
            newline ? (size_t)(newline - modules->piece) - at : got - at;

        if (!newline && got < PIECE)
            break;
        take_line(modules, source, modules->piece + at, length);
        at += length + (newline != NULL);
    }
    source->at += (off_t)at;
}

static struct source *source_of(struct jl_modules *modules, const char *name)
{
    for (size_t i = 0; i < modules->nsources; i++)
        if (strcmp(modules->sources[i].name, name) == 0)
            return &modules->sources[i];
    *JR_PUSH(modules->sources, modules->nsources, modules->sources_room) =
        (struct source){.name = jr_strdup(name)};
    return &modules->sources[modules->nsources - 1];
}

int jl_modules_look(struct jl_modules *modules)
{
    const int64_t begin = jr_now_ms();
    int64_t used;
    size_t count;
    char **names = jl_folder_list(modules->folder, JP_MAP_NAME, &count);

    for (size_t i = 0; i < count; i++)
        if (jr_is_numbered(names[i], JP_MAP_NAME))
            look_at(modules, source_of(modules, names[i]));
    jl_folder_free_list(names, count);
    used = SHARE * (jr_now_ms() - begin);
    return used < LOOK_MS ? LOOK_MS : used < 60000 ? (int)used : 60000;
}

/* Whether the file is still where it was. */
static int is_there(const struct found *found)
{
    struct stat now;

    return found->path[0] && stat(found->path, &now) == 0 &&
           jr_is_same_file(&now, &found->info) &&
           now.st_size == found->info.st_size &&
           now.st_mtim.tv_sec == found->info.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == found->info.st_mtim.tv_nsec;
}

void jl_modules_end(struct jl_modules *modules)
{
    size_t missing = 0;

    for (size_t i = 0; i < modules->nfound; i++) {
        struct found *found = &modules->found[i];

        if (is_there(found)) {
            if (found->is_kept)
                unlinkat(modules->folder->fd, found->name, 0);
        } else {
            missing += !found->is_kept;
        }
        free(found->name);
        free(found->path);
    }
    if (missing)
        jr_say("%zu files of code that the program removed were not kept: they "
               "could not be copied, or are more than %d MiB of one process; "
               "their functions stay unnamed",
               missing, (int)(JL_MODULES_MAX >> 20));
    for (size_t i = 0; i < modules->nsources; i++)
        free(modules->sources[i].name);
    free(modules->sources);
    free(modules->found);
    free(modules);
}
