/* SPDX-License-Identifier: MIT
 *
 * Saves JIT files beside the log, and removes those that nobody but jprof
 * wanted.
 * Runs in: launcher. */
#include "keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "copy.h"
#include "jit_map.h"
#include "jp_limits.h"
#include "launcher/base/say.h"
#include "launcher/os/place.h"
#include "launcher/os/proc.h"
#include "read/names.h"

#define MAP_MAX ((off_t)1 << 28) /* bytes of a map that is looked at */
#define NAMES_TRIED 1000
#define PATIENCE_MS 2000 /* in all, where a process goes on */
#define STEP_MS 10
#define DUMP_MAGIC 0x4a695444U /* doc/jit.md: the first word of a jitdump */

/* Saving the files of one map. */
struct keeping {
    const struct jl_folder *folder;
    const struct jl_request *request;
    const char *rest; /* of the map's name, behind jprof-map */
    uint32_t pid;
    int map;               /* open for appending */
    unsigned *patience_ms; /* for processes that end after the program */
    size_t unwritten;      /* lines that could not be written: the disk was full
                         or a limit reached */
};

/* Whether name and contents are those of a perf map or a jitdump. The program
 * chose the path, so nothing else that the user may read is copied. */
static int is_jit_file(int fd, const struct jl_jit_line *line)
{
    const char *name = jr_base_name(line->path);
    uint32_t magic = 0;
    size_t digits;

    if (line->kind == JL_JITDUMP) {
        jr_file_pread(fd, &magic, sizeof magic, 0);
        return magic == DUMP_MAGIC || magic == __builtin_bswap32(DUMP_MAGIC);
    }
    if (strncmp(name, "perf-", 5) != 0)
        return 0;
    digits = strspn(name + 5, "0123456789");
    return digits > 0 && strcmp(name + 5 + digits, ".map") == 0;
}

/* The file that a line is about, if it is still that file; -1.  Nothing else
 * is opened for reading: a FIFO's writer would go on, a device would act. */
static int open_original(const struct jl_jit_line *line, struct stat *info)
{
    int at = line->path[0] == '/'
                 ? open(line->path, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    int fd = -1;

    if (at < 0)
        return -1;
    if (fstat(at, info) == 0 && S_ISREG(info->st_mode) &&
        info->st_uid == geteuid() && info->st_ino == line->inode)
        fd = jr_file_open_again(at, line->path, info);
    close(at);
    if (fd >= 0 && !is_jit_file(fd, line)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* A name of the form LOG.perf-PID.map or LOG.jit-PID.dump that is free, with
 * -2... before its suffix where others have it; allocated, NULL: none is. */
static char *free_name(const struct keeping *keeping, uint8_t kind)
{
    for (int i = 1; i < NAMES_TRIED; i++) {
        char more[16] = "", *name;

        if (i > 1)
            snprintf(more, sizeof more, "-%d", i);
        name = jr_printf(JP_LOG_NAME "%s.%s-%" PRIu32 "%s.%s", keeping->rest,
                         kind == JL_PERFMAP ? "perf" : "jit", keeping->pid,
                         more, kind == JL_PERFMAP ? "map" : "dump");
        if (!jl_folder_has(keeping->folder, name))
            return name;
        free(name);
    }
    return NULL;
}

/* Links the open file into the folder, or copies it where no link can be
 * made. */
static int link_or_copy(const struct keeping *keeping, int fd, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, keeping->folder->fd, name, AT_SYMLINK_FOLLOW) ==
        0)
        return 0;
    return jl_copy_file(keeping->folder, fd, name);
}

/* Says in the map where the file is now. */
static void write_saved(struct keeping *keeping, const char *line,
                        size_t length, const char *name)
{
    char *text = jr_printf("%.*s saved=%s\n", (int)length, line, name);

    keeping->unwritten += jl_write_all(keeping->map, text, strlen(text)) != 0;
    free(text);
}

/* Whether the saved file of a line is there; *info tells of it. */
static int is_saved(const struct keeping *keeping,
                    const struct jl_jit_line *line, struct stat *info)
{
    return line->saved && jr_is_kept_name(line->saved) &&
           fstatat(keeping->folder->fd, line->saved, info,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(info->st_mode) && info->st_uid == geteuid();
}

/* The part of `path` behind FOLDER/jit/; NULL when it is not in there. */
static const char *in_jit_folder(const struct jl_folder *folder,
                                 const char *path)
{
    const size_t length = strlen(folder->path);
    const char *rest = path + length;

    if (strncmp(path, folder->path, length) != 0 ||
        strncmp(rest, "/" JL_JIT_FOLDER "/", strlen(JL_JIT_FOLDER) + 2) != 0)
        return NULL;
    return rest + strlen(JL_JIT_FOLDER) + 2;
}

/* Removes a file below FOLDER/jit, going from folder to folder and through no
 * link. */
static void remove_in_folder(const struct jl_folder *folder, const char *rest,
                             const struct stat *known)
{
    int dir = openat(folder->fd, JL_JIT_FOLDER,
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    while (dir >= 0) {
        size_t length = strcspn(rest, "/");
        char *part = jr_strndup(rest, length);
        int next = -1;

        if (rest[length] == '\0')
            jl_remove_own(dir, part, known);
        else if (strcmp(part, "..") != 0)
            next = openat(dir, *part ? part : ".",
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        free(part);
        close(dir);
        dir = next;
        rest += length + 1;
    }
}

/* O_RDONLY: to list its names, O_PATH: by a name. */
static int open_tmp(int how)
{
    return open("/tmp", how | O_DIRECTORY | O_CLOEXEC);
}

/* Removes what matches the pattern of a runtime's litter, by process `pid`. */
static void remove_litter(const char *pattern, uint32_t pid)
{
    const char *sign = strchr(pattern, '%'), *name;
    char *text = jr_printf("%.*s%" PRIu32 "%s", (int)(sign - pattern), pattern,
                           pid, sign + 2);
    int dir = text[0] == '/' ? open_tmp(O_RDONLY)
                             : open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = dir < 0 ? NULL : fdopendir(dir);
    const struct dirent *entry;

    name = jr_base_name(text);
    while (names && (entry = readdir(names)))
        if (fnmatch(name, entry->d_name, FNM_PERIOD) == 0)
            jl_remove_own(dir, entry->d_name, NULL);
    if (names)
        closedir(names);
    free(text);
}

/* Removes the original, under names that runtimes give their files. */
static void remove_original(const struct keeping *keeping, const char *path,
                            const struct stat *known)
{
    const char *rest = in_jit_folder(keeping->folder, path);
    const char *litter = keeping->request->removed_patterns;
    char map[32], dump[32];
    int tmp = open_tmp(O_PATH);

    snprintf(map, sizeof map, "perf-%" PRIu32 ".map", keeping->pid);
    snprintf(dump, sizeof dump, "jit-%" PRIu32 ".dump", keeping->pid);
    if (tmp >= 0) {
        jl_remove_own(tmp, map, known);
        jl_remove_own(tmp, dump, known);
        close(tmp);
    }
    jl_remove_own(AT_FDCWD, dump, known);
    if (rest)
        remove_in_folder(keeping->folder, rest, known);
    if (litter)
        remove_litter(litter, keeping->pid);
}

void jl_keep_forget(const struct jl_runtime *runtime, uint32_t pid)
{
    char map[32], dump[32];
    int tmp = open_tmp(O_PATH);

    snprintf(map, sizeof map, "perf-%" PRIu32 ".map", pid);
    snprintf(dump, sizeof dump, "jit-%" PRIu32 ".dump", pid);
    if (tmp >= 0) {
        jl_remove_own(tmp, map, NULL);
        jl_remove_own(tmp, dump, NULL);
        close(tmp);
    }
    jl_remove_own(AT_FDCWD, dump, NULL);
    if (runtime->litter)
        remove_litter(runtime->litter, pid);
}

/* Whether the process runs.  One that has ended and that nobody has asked for
 * its status has no program any more, nor threads. */
static int is_running(uint32_t pid)
{
    char path[32], exe[1];
    int dir, running;

    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return access(path, F_OK) == 0;
    running = readlinkat(dir, "exe", exe, sizeof exe) >= 0 || errno != ENOENT ||
              jl_proc_stat(dir, JL_STAT_THREADS) > 1;
    close(dir);
    return running;
}

/* Whether the process has not ended, after some patience with those that end
 * because the program has: Python's resource tracker and fork server. */
static int goes_on(const struct keeping *keeping)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    while (is_running(keeping->pid)) {
        if (*keeping->patience_ms < STEP_MS)
            return 1;
        *keeping->patience_ms -= STEP_MS;
        nanosleep(&step, NULL);
    }
    return 0;
}

/* Takes the mode that the runtime gave it from a file that only the folder has
 * now. */
static void close_to_others(int fd)
{
    struct stat info;

    if (fstat(fd, &info) == 0 && info.st_nlink == 1)
        (void)fchmod(fd, 0600);
}

static void keep_file(struct keeping *keeping, const char *data,
                      const struct jl_jit_line *line)
{
    struct stat info, saved;
    int fd = open_original(line, &info), kept = 1, ours;
    char *name = NULL;

    if (fd < 0)
        return;
    if (is_saved(keeping, line, &saved)) {
        name = jr_strdup(line->saved);
        if (!jr_is_same_file(&saved, &info) && saved.st_size < info.st_size)
            kept = jl_copy_file(keeping->folder, fd, name) == 0;
    } else {
        name = free_name(keeping, line->kind);
        kept = name && link_or_copy(keeping, fd, name) == 0;
        if (kept)
            write_saved(keeping, data + line->start, line->length, name);
    }
    /* A process that still runs goes on writing to the file. */
    ours = (keeping->request->removed & line->kind) != 0;
    if (kept && !(ours ? goes_on(keeping) : is_running(keeping->pid))) {
        if (ours) {
            remove_original(keeping, line->path, &info);
            close_to_others(fd);
        } else if (fstatat(keeping->folder->fd, name, &saved,
                           AT_SYMLINK_NOFOLLOW) == 0 &&
                   jr_is_same_file(&saved, &info)) {
            /* A later process may write to the original. */
            jl_copy_file(keeping->folder, fd, name);
        }
    }
    free(name);
    close(fd);
}

static void keep_files_of(struct keeping *keeping, off_t size)
{
    char *data = jr_alloc((size_t)size + 1, 1);
    size_t got = jr_file_pread(keeping->map, data, (size_t)size, 0);
    struct jl_jit_map map;

    if (got && data[got - 1] != '\n') /* ends a line that the kill cut off */
        (void)jl_write_all(keeping->map, "\n", 1);
    jl_jit_map_read(&map, data, got);
    keeping->pid = map.pid;
    for (size_t i = 0; map.pid && i < map.nlines; i++)
        keep_file(keeping, data, &map.lines[i]);
    jl_jit_map_free(&map);
    free(data);
}

void jl_keep_files(const struct jl_folder *folder,
                   const struct jl_request *request)
{
    unsigned patience_ms = PATIENCE_MS;
    size_t count;
    char **names = jl_folder_list(folder, JP_MAP_NAME, &count);

    for (size_t i = 0; i < count; i++) {
        struct keeping keeping = {
            .folder = folder, .request = request, .patience_ms = &patience_ms};
        struct stat info;

        if (!jr_is_numbered(names[i], JP_MAP_NAME))
            continue;
        keeping.rest = names[i] + strlen(JP_MAP_NAME);
        keeping.map =
            jl_folder_open(folder, names[i], O_RDWR | O_APPEND, 1, &info);
        if (keeping.map < 0)
            continue;
        if (info.st_size <= MAP_MAX)
            keep_files_of(&keeping, info.st_size);
        close(keeping.map);
        if (keeping.unwritten)
            jr_say("%s/%s: %zu lines on saved JIT files could not be written",
                   folder->shown, names[i], keeping.unwritten);
    }
    jl_folder_free_list(names, count);
    unlinkat(folder->fd, JL_JIT_FOLDER, AT_REMOVEDIR);
}
