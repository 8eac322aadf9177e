/* SPDX-License-Identifier: MIT
 *
 * Finds the perf maps and jitdumps that a map names: one content for each
 * inode that was seen under a path.
 * Runs in: analyzer. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "jit.h"
#include "read/names.h"

/* One content of one path. */
struct content {
    const char *path;
    const char *saved;                    /* the last copy, or NULL */
    uint64_t device, inode;               /* 0: not known */
    uint64_t size, tail;                  /* when it was seen last */
    const struct jr_jit_file **sightings; /* in order of time */
    size_t count, room;
    uint64_t replaced_ns; /* by the next content */
    uint8_t is_dump, inherited;
};

struct contents {
    struct content *items;
    size_t count, room;
};

/* The last content under the path of `file`, or NULL. */
static struct content *last_of(const struct contents *contents,
                               const struct jr_jit_file *file)
{
    for (size_t i = contents->count; i > 0; i--) {
        struct content *content = &contents->items[i - 1];

        if (content->is_dump == file->is_dump &&
            !strcmp(content->path, file->path))
            return content;
    }
    return NULL;
}

static int differ(uint64_t one, uint64_t other)
{
    return one && other && one != other;
}

static void add_sighting(struct contents *contents,
                         const struct jr_jit_file *file)
{
    struct content *last = last_of(contents, file);

    if (last && (differ(last->inode, file->inode) ||
                 differ(last->device, file->device))) {
        last->replaced_ns = file->time_ns;
        /* A copy of this name is now one of the new content. */
        if (last->saved && file->saved && !strcmp(last->saved, file->saved))
            last->saved = NULL;
        last = NULL;
    }
    if (!last) {
        last = JR_PUSH(contents->items, contents->count, contents->room);
        *last = (struct content){.path = file->path,
                                 .replaced_ns = UINT64_MAX,
                                 .is_dump = file->is_dump};
    }
    if (file->inode)
        last->inode = file->inode;
    if (file->device)
        last->device = file->device;
    if (file->saved)
        last->saved = file->saved;
    last->size = file->size;
    last->tail = file->tail;
    last->inherited = file->inherited;
    *JR_PUSH(last->sightings, last->count, last->room) = file;
}

/* The path of the copy beside the log, or NULL.  A name with a slash is none
 * of ours. */
static char *saved_path(const struct content *content, const char *log_dir)
{
    if (!content->saved || strchr(content->saved, '/'))
        return NULL;
    return *log_dir ? jr_printf("%s/%s", log_dir, content->saved)
                    : jr_strdup(content->saved);
}

/* Fills *info of the regular file at `path`. */
static int look_at(const char *path, struct stat *info, const char **why)
{
    int fd = jr_file_open(path, info, why);

    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

/* Is the file still the one that the process had?  Some file systems (btrfs,
 * overlayfs) show a process's mappings with another device than stat does: the
 * inode alone will do then, if nothing else speaks against it. */
static int is_same(const struct content *content, const struct stat *info)
{
    if (differ(content->inode, (uint64_t)info->st_ino))
        return 0;
    return !differ(content->device, (uint64_t)info->st_dev) ||
           (uint64_t)info->st_size >= content->size;
}

#define TAIL_WORDS 8U
#define SLACK_NS 1000000000ULL

/* As preload/sig/jit/jit_keep.c hashes the last bytes of a file of that size.
 * */
static uint64_t tail_of(const char *path, uint64_t size)
{
    uint64_t words[TAIL_WORDS] = {0}, hash = 0xcbf29ce484222325ULL;
    uint64_t at = size < sizeof words ? 0 : size - sizeof words;
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);

    if (fd < 0)
        return 0;
    jr_file_pread(fd, words, (size_t)(size - at), at);
    close(fd);
    for (unsigned i = 0; i < TAIL_WORDS; i++) {
        hash = (hash ^ words[i]) * 0x100000001b3ULL;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Was the file written to after the process had ended, by more than slack_ns?
 */
static int is_later(const struct stat *info, const struct jr_map *map,
                    uint64_t slack_ns)
{
    uint64_t changed = (uint64_t)info->st_mtim.tv_sec * 1000000000ULL +
                       (uint64_t)info->st_mtim.tv_nsec;

    return map->real_ns &&
           changed > map->real_ns + (map->end_ns - map->begin_ns) + slack_ns;
}

/* Has another process written over the file since then?  One may have the same
 * pid, and open the file that is there: a link beside the log is the same
 * file.  It may do so at once, and a map has no times by which its lines could
 * be told from the first process's; a dump's records have. */
static int is_overwritten(const struct content *content, const char *path,
                          const struct stat *info, const struct jr_map *map)
{
    return content->tail &&
           is_later(info, map, content->is_dump ? SLACK_NS : 0) &&
           ((uint64_t)info->st_size < content->size ||
            tail_of(path, content->size) != content->tail);
}

/* Looks at the original.  Returns 0 when it is the content, else -1 with *why
 * set. */
static int find_original(const struct content *content,
                         const struct jr_map *map, struct stat *info,
                         const char **why)
{
    if (look_at(content->path, info, why) < 0)
        return -1;
    if (!is_same(content, info)) {
        *why = "is another file by now, and no copy of it was saved";
        return -1;
    }
    if (is_overwritten(content, content->path, info, map)) {
        *why = "another process has written to it since";
        return -1;
    }
    return 0;
}

/* Where the content is: the copy, or where that is not there or not whole the
 * original: its last lines may come after jprof's end.  The caller frees the
 * path; NULL: nowhere, *why says why. */
static char *find_content(const struct content *content,
                          const struct jr_map *map, const char *log_dir,
                          const char **why)
{
    char *saved = saved_path(content, log_dir);
    const char *copy_why = NULL;
    struct stat copy, original;
    int has_copy = saved && look_at(saved, &copy, why) == 0, has_original;

    if (has_copy && is_overwritten(content, saved, &copy, map)) {
        copy_why = "another process has written to it since";
        has_copy = 0;
    }
    has_original = find_original(content, map, &original, why) == 0;
    if (has_copy && !(has_original && original.st_size > copy.st_size &&
                      ((uint64_t)copy.st_size < content->size ||
                       !is_later(&original, map, SLACK_NS))))
        return saved;
    free(saved);
    if (has_original)
        return jr_strdup(content->path);
    if (copy_why)
        *why = copy_why;
    return NULL;
}

/* Whether `name` is that of a kept file of this content, LOG.perf-PID.map or
 * LOG.perf-PID-N.map (preload/sig/jit/jit_keep.h), whatever the log. */
static int is_kept_of(const char *name, const struct content *content)
{
    const char *file = jr_base_name(content->path);
    const char *suffix = strrchr(file, '.'), *at = strchr(name, '.');
    const size_t stem = suffix ? (size_t)(suffix - file) : 0;

    if (!stem || !at || !jr_is_kept_name(name) ||
        strncmp(at + 1, file, stem) != 0)
        return 0;
    at += 1 + stem;
    if (*at == '-')
        at += 1 + strspn(at + 1, "0123456789");
    return strcmp(at, suffix) == 0;
}

/* Whether a file that another process's log may have kept is the content: it is
 * the same file, or a copy with the same bytes. */
static int is_copy(const struct content *content, const char *path)
{
    struct stat info;
    const char *why;

    if (look_at(path, &info, &why) < 0 ||
        (uint64_t)info.st_size < content->size)
        return 0;
    return content->inode == (uint64_t)info.st_ino || !content->tail ||
           tail_of(path, content->size) == content->tail;
}

/* What a process inherited is also its ancestor's, who may have kept it beside
 * a log of its own after the child had looked for it.  NULL: no copy is
 * there, or several are. */
static char *find_kept(const struct content *content, const char *log_dir)
{
    DIR *names = opendir(*log_dir ? log_dir : ".");
    const struct dirent *entry;
    char *found = NULL;
    size_t count = 0;

    while (names && (entry = readdir(names))) {
        char *path;

        if (!is_kept_of(entry->d_name, content))
            continue;
        path = *log_dir ? jr_printf("%s/%s", log_dir, entry->d_name)
                        : jr_strdup(entry->d_name);
        if (is_copy(content, path) && count++ == 0)
            found = path;
        else
            free(path);
    }
    if (names)
        closedir(names);
    if (count > 1) {
        free(found);
        found = NULL;
    }
    return found;
}

static const char *kind_of(const struct content *content)
{
    return content->is_dump ? "jitdump" : "perf map";
}

/* Reads the content, wherever it still is.  NULL: nowhere. */
static struct jr_jit_origin *open_content(const struct content *content,
                                          const struct jr_map *map,
                                          const char *log_dir,
                                          struct jr_diag *diag)
{
    struct jr_jit_origin *origin = jr_alloc(1, sizeof *origin);
    const char *why = "";
    char *path = find_content(content, map, log_dir, &why);
    int result = -1;

    if (!path && content->inherited)
        path = find_kept(content, log_dir);
    origin->is_dump = content->is_dump;
    origin->path = content->path;
    if (path && !content->is_dump)
        result = jr_perfmap_read(path, &origin->map, &why);
    else if (path)
        result = jr_source_open(&origin->source, path, NULL, &why) == 0
                     ? jr_jitdump_begin(&origin->dump, &origin->source, &why)
                     : -1;
    free(path);
    if (result == 0)
        return origin;
    jr_warn(diag, content->path, JR_NO_OFFSET,
            "%s: %s; its JIT code stays unnamed", kind_of(content), why);
    jr_perfmap_free(&origin->map);
    jr_jitdump_free(&origin->dump);
    jr_source_free(&origin->source);
    free(origin);
    return NULL;
}

/* Says what of a dump could not be read.  That its end is cut is normal. */
static void say_dump(const struct jr_jit_origin *origin, struct jr_diag *diag)
{
    const struct jr_jitdump *dump = &origin->dump;

    if (dump->malformed)
        jr_warn(diag, origin->path, dump->first_malformed,
                "%" PRIu64 " records that a jitdump cannot hold, the first "
                "one here; left out",
                dump->malformed);
    if (dump->unknown)
        jr_say("%s: %" PRIu64 " records of types that are not known, the first "
               "one of type %" PRIu32 " at 0x%" PRIx64 "; left out",
               origin->path, dump->unknown, dump->unknown_type,
               dump->first_unknown);
    if (dump->damages)
        jr_warn(diag, origin->path, dump->first_damage,
                "no jitdump record in %" PRIu64 " places, the first one here; "
                "what is whole behind them is read",
                dump->damages);
    if (dump->lost_at != JR_NO_OFFSET)
        jr_warn(diag, origin->path, dump->lost_at,
                "no jitdump record; the rest of the file is left out");
}

static void read_one(struct jr_jit *jit, const struct content *content,
                     const char *log_dir, struct jr_diag *diag)
{
    struct jr_jit_origin *origin =
        open_content(content, jit->map, log_dir, diag);
    struct jr_jit_sightings sightings = {.items = content->sightings,
                                         .count = content->count,
                                         .replaced_ns = content->replaced_ns};

    if (content->inherited)
        sightings.inherited = content->size ? content->size : 1;

    if (!origin) {
        jit->unread++;
        return;
    }
    if (origin->is_dump) {
        jr_jit_append_dump(jit, origin, &sightings);
        say_dump(origin, diag);
        return;
    }
    if (origin->map.malformed)
        jr_warn(diag, content->path, origin->map.first_malformed,
                "%zu lines that a perf map cannot hold, the first one here; "
                "left out",
                origin->map.malformed);
    jr_jit_append_map(jit, origin, &sightings);
}

void jr_jit_read(struct jr_jit *jit, const struct jr_map *map,
                 const char *log_dir, struct jr_diag *diag)
{
    struct contents contents = {0};

    jit->map = map;
    jit->log_dir = log_dir;
    for (size_t i = 0; i < map->njit; i++)
        add_sighting(&contents, &map->jit[i]);
    for (size_t i = 0; i < contents.count; i++) {
        read_one(jit, &contents.items[i], log_dir, diag);
        free(contents.items[i].sightings);
    }
    free(contents.items);
    jr_jit_finish(jit);
}
