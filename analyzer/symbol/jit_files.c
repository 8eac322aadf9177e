/* SPDX-License-Identifier: MIT
 *
 * Finds the perf maps that a map names: one content for each inode that was
 * seen under a path.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "../base/mem.h"
#include "jit.h"

/* One content of one path. */
struct content {
    const char *path;
    const char *saved;                    /* the last copy, or NULL */
    uint64_t inode;                       /* 0: not known */
    const struct jr_jit_file **sightings; /* in order of time */
    size_t count, room;
    uint64_t replaced_ns;                 /* by the next content */
    int is_first;                         /* under its path */
};

struct contents {
    struct content *items;
    size_t count, room;
};

/* The last content under `path`, or NULL. */
static struct content *last_of(const struct contents *contents,
                               const char *path)
{
    for (size_t i = contents->count; i > 0; i--) {
        if (!strcmp(contents->items[i - 1].path, path))
            return &contents->items[i - 1];
    }
    return NULL;
}

static void add_sighting(struct contents *contents,
                         const struct jr_jit_file *file)
{
    struct content *last = last_of(contents, file->path);
    int is_first = !last;

    if (last && last->inode && file->inode && last->inode != file->inode) {
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
                                 .is_first = is_first};
    }
    if (file->inode)
        last->inode = file->inode;
    if (file->saved)
        last->saved = file->saved;
    *JR_PUSH(last->sightings, last->count, last->room) = file;
}

/* Reads the copy beside the log.  A name with a slash is none of ours. */
static int read_saved(const struct content *content, const char *log_dir,
                      struct jr_perfmap *perfmap)
{
    const char *why;
    char *path;
    int result;

    if (!content->saved || strchr(content->saved, '/'))
        return -1;
    path = *log_dir ? jr_printf("%s/%s", log_dir, content->saved)
                    : jr_strdup(content->saved);
    result = jr_perfmap_read(path, perfmap, &why);
    free(path);
    return result;
}

/* Reads the content, wherever it still is. */
static int read_content(const struct content *content, const char *log_dir,
                        struct jr_perfmap *perfmap, struct jr_diag *diag)
{
    const char *why;

    if (read_saved(content, log_dir, perfmap) == 0)
        return 0;
    if (jr_perfmap_read(content->path, perfmap, &why) == 0) {
        if (!content->inode || content->inode == perfmap->inode)
            return 0;
        jr_perfmap_free(perfmap);
        why = "is another file by now, and no copy of it was saved";
    }
    jr_warn(diag, content->path, JR_NO_OFFSET,
            "perf map: %s; its JIT code stays unnamed", why);
    return -1;
}

static void read_one(struct jr_jit *jit, const struct content *content,
                     const char *log_dir, struct jr_diag *diag)
{
    struct jr_perfmap perfmap;
    size_t first = jit->nlines;

    if (read_content(content, log_dir, &perfmap, diag) < 0)
        return;
    if (perfmap.malformed)
        jr_warn(diag, content->path, perfmap.first_malformed,
                "%zu lines that a perf map cannot hold, the first one here; "
                "left out",
                perfmap.malformed);
    *JR_PUSH(jit->files, jit->nfiles, jit->files_room) = perfmap;
    jr_jit_append(jit, &perfmap, content->sightings, content->count,
                  content->is_first ? 0 : content->sightings[0]->time_ns);
    for (size_t i = first; i < jit->nlines; i++)
        jit->lines[i].until_ns = content->replaced_ns;
}

void jr_jit_read(struct jr_jit *jit, const struct jr_map *map,
                 const char *log_dir, struct jr_diag *diag)
{
    struct contents contents = {0};

    for (size_t i = 0; i < map->njit; i++) {
        if (!map->jit[i].is_dump)
            add_sighting(&contents, &map->jit[i]);
    }
    for (size_t i = 0; i < contents.count; i++) {
        read_one(jit, &contents.items[i], log_dir, diag);
        free(contents.items[i].sightings);
    }
    free(contents.items);
    jr_jit_finish(jit);
}
