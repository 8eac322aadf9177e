/* SPDX-License-Identifier: MIT
 *
 * Reads source files once each, and finds their lines.  Their names come from
 * files that are not trusted: only regular files in places where the user may
 * expect it are read, and not without limit; what is shown of them is a line
 * at a time.
 * Runs in: analyzer. */
#include "listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/mem.h"
#include "symbol/elf/symbols.h"

/* files; SpiderMonkey writes one for each piece of code */
#define FILES_MAX 4096
#define FILE_MAX (16U << 20)
#define BYTES_MAX (64U << 20) /* of all files */

struct listing {
    char *name;
    struct jr_bytes bytes; /* data NULL: it could not be read */
    size_t *starts;        /* of lines */
    size_t nlines, room;
};

/* A folder below which files are read. */
struct place {
    char *path;     /* without links, with a slash at the end */
    int has_hidden; /* files and folders whose names begin with a dot are
                       allowed, too */
};

struct jr_listings {
    struct place *places;
    size_t nplaces, places_room;
    char **folders; /* in which to look by the last part of a name */
    size_t nfolders, folders_room;
    const struct jr_symbols *symbols;  /* NULL: unknown */
    const struct jr_symbols *archived; /* sources come from there; NULL */
    const struct jr_source_map *maps;
    size_t nmaps;
    int told;
    struct listing *files;
    size_t nfiles, room;
    size_t bytes;
    size_t last; /* the file last asked for */
};

static void add_place(struct jr_listings *listings, const char *folder,
                      int has_hidden)
{
    char *real = realpath(*folder ? folder : ".", NULL);

    /* Below the root folder is everything. */
    if (real && (has_hidden || strcmp(real, "/") != 0))
        *JR_PUSH(listings->places, listings->nplaces, listings->places_room) =
            (struct place){jr_printf("%s%s", real, real[1] ? "/" : ""),
                           has_hidden};
    free(real);
}

static void add_folder(struct jr_listings *listings, const char *folder,
                       const char *slash)
{
    *JR_PUSH(listings->folders, listings->nfolders, listings->folders_room) =
        jr_printf("%s%s", folder, slash);
}

/* Adds the folders that are allowed without being named by the user. */
static void add_own_places(struct jr_listings *listings,
                           const struct jr_listing_places *places,
                           const char *own)
{
    const char *work = getenv(JR_WORK_FOLDER);

    for (size_t i = 0; i < places->nrecorded; i++)
        add_place(listings, places->recorded[i], 0);
    add_place(listings, own, 0);
    add_place(listings, ".", 0);
    add_place(listings, "/usr/include", 0);
    add_place(listings, "/usr/src", 0);
    if (work && work[0] == '/')
        add_place(listings, work, 0);
    add_folder(listings, own, "");
}

struct jr_listings *jr_listings_new(const struct jr_listing_places *places)
{
    struct jr_listings *listings = jr_alloc(1, sizeof *listings);
    const char *own = places->folder ? places->folder : "";

    listings->symbols = places->symbols;
    if (places->symbols && jr_symbols_are_archived(places->symbols))
        listings->archived = places->symbols;
    else
        add_own_places(listings, places, own);
    listings->told = places->is_quiet;
    listings->maps = places->maps;
    listings->nmaps = places->nmaps;
    for (size_t i = 0; i < places->nmaps; i++)
        add_place(listings, places->maps[i].to, 1);
    for (size_t i = 0; i < places->nsources; i++) {
        add_place(listings, places->sources[i], 1);
        add_folder(listings, places->sources[i], "/");
    }
    return listings;
}

void jr_listings_free(struct jr_listings *listings)
{
    if (!listings)
        return;
    for (size_t i = 0; i < listings->nfiles; i++) {
        free(listings->files[i].name);
        free(listings->files[i].bytes.data);
        free(listings->files[i].starts);
    }
    for (size_t i = 0; i < listings->nplaces; i++)
        free(listings->places[i].path);
    for (size_t i = 0; i < listings->nfolders; i++)
        free(listings->folders[i]);
    free(listings->places);
    free(listings->folders);
    free(listings->files);
    free(listings);
}

/* Whether a path without links is below one of the places. */
static int is_allowed(const struct jr_listings *listings, const char *real)
{
    for (size_t i = 0; i < listings->nplaces; i++) {
        const struct place *place = &listings->places[i];
        const size_t length = strlen(place->path);

        if (strncmp(real, place->path, length) == 0 &&
            (place->has_hidden ||
             (real[length] != '.' && !strstr(real + length, "/."))))
            return 1;
    }
    return 0;
}

static void find_lines(struct listing *file)
{
    const uint8_t *data = file->bytes.data;
    size_t size = file->bytes.size, at = 0;

    while (at < size) {
        const uint8_t *end = memchr(data + at, '\n', size - at);

        *JR_PUSH(file->starts, file->nlines, file->room) = at;
        at = end ? (size_t)(end - data) + 1 : size;
    }
}

/* Reads the file at `path` into the listing; returns 0, or -1. */
static int read_into(struct jr_listings *listings, struct listing *file,
                     const char *path)
{
    const char *why;

    if (jr_file_read(path, FILE_MAX, &file->bytes, &why) != 0) {
        file->bytes.data = NULL;
        return -1;
    }
    listings->bytes += file->bytes.size;
    find_lines(file);
    return 0;
}

static int try_path(struct jr_listings *listings, struct listing *file,
                    const char *path)
{
    char *real = realpath(path, NULL);
    int found = -1;

    if (real && !is_allowed(listings, real)) {
        if (!listings->told)
            jr_say("%s: the profile names it as a source; it is not read, nor "
                   "are others that are neither below the working directory "
                   "nor beside the log; --source-dir=DIR allows it",
                   real);
        listings->told = 1;
    } else if (real) {
        found = read_into(listings, file, real);
    }
    free(real);
    return found;
}

/* Where the user says that files of a folder are: `from` is followed by a slash
 * in the name, or ends with one.  Returns 0, or -1. */
static int try_maps(struct jr_listings *listings, struct listing *file,
                    const char *path)
{
    for (size_t i = 0; i < listings->nmaps; i++) {
        const struct jr_source_map *map = &listings->maps[i];
        const size_t length = strlen(map->from);
        char *moved;
        int found;

        if (strncmp(path, map->from, length) != 0 ||
            (map->from[length - 1] != '/' && path[length] != '/'))
            continue;
        moved = jr_printf("%s/%s", map->to, path + length);
        found = try_path(listings, file, moved);
        free(moved);
        if (found == 0)
            return 0;
    }
    return -1;
}

/* Reads the file at `path`, which it frees, wherever that is: whoever calls it
 * knows that the user may expect it.  Returns 0, or -1. */
static int take_file(struct jr_listings *listings, struct listing *file,
                     char *path)
{
    const int found = read_into(listings, file, path);

    free(path);
    return found;
}

/* Reads the file's text from the archive; returns 0, or -1 when it is not in
 * there. */
static int read_archived(struct jr_listings *listings, struct listing *file)
{
    const char *names = NULL;
    uint32_t number = listings->archived ? jr_symbols_source(listings->archived,
                                                             file->name, &names)
                                         : 0;

    if (number == 0)
        return -1;
    return take_file(listings, file,
                     jr_printf("%.*s" JR_LISTING_ARCHIVED "%" PRIu32,
                               (int)(strrchr(names, '/') + 1 - names), names,
                               number));
}

/* Reads the file's text from the cache of debuginfod's client, which has what
 * its servers gave.  Returns 0, or -1. */
static int read_fetched(struct jr_listings *listings, struct listing *file)
{
    char *path = listings->symbols && !listings->archived
                     ? jr_symbols_fetched_source(listings->symbols, file->name)
                     : NULL;

    return path ? take_file(listings, file, path) : -1;
}

static void read_file(struct jr_listings *listings, struct listing *file)
{
    static const char scheme[] = "file://";
    const char *path = file->name, *slash;

    if (read_archived(listings, file) == 0)
        return;

    if (strncmp(path, scheme, sizeof scheme - 1) == 0)
        path += sizeof scheme - 1;
    if (path[0] == '/' && try_path(listings, file, path) == 0)
        return;
    if (try_maps(listings, file, path) == 0)
        return;
    if (read_fetched(listings, file) == 0)
        return;
    slash = strrchr(path, '/');
    path = slash ? slash + 1 : path;
    if (path[0] == '\0' || strcmp(path, ".") == 0 || strcmp(path, "..") == 0)
        return;
    for (size_t i = 0; i < listings->nfolders; i++) {
        char *beside = jr_printf("%s%s", listings->folders[i], path);
        int found = try_path(listings, file, beside);

        free(beside);
        if (found == 0)
            return;
    }
}

static struct listing *find_file(struct jr_listings *listings, const char *name)
{
    struct listing *file;

    if (listings->last < listings->nfiles &&
        strcmp(listings->files[listings->last].name, name) == 0)
        return &listings->files[listings->last];
    for (size_t i = 0; i < listings->nfiles; i++)
        if (strcmp(listings->files[i].name, name) == 0) {
            listings->last = i;
            return &listings->files[i];
        }
    if (listings->nfiles >= FILES_MAX || listings->bytes >= BYTES_MAX)
        return NULL;
    listings->last = listings->nfiles;
    file = JR_PUSH(listings->files, listings->nfiles, listings->room);
    *file = (struct listing){.name = jr_strdup(name)};
    read_file(listings, file);
    return file;
}

int jr_listings_line(struct jr_listings *listings, const char *file,
                     uint32_t line, const char **text)
{
    struct listing *found = find_file(listings, file);
    const char *start;
    size_t length;

    if (!found || !found->bytes.data || line == 0 || line > found->nlines)
        return -1;
    start = (const char *)found->bytes.data + found->starts[line - 1];
    length = (line < found->nlines ? found->starts[line] : found->bytes.size) -
             found->starts[line - 1];
    while (length > 0 && strchr("\n\r\t ", start[length - 1]))
        length--;
    *text = start;
    return (int)(length < JR_LISTING_LINE_MAX ? length : JR_LISTING_LINE_MAX);
}

int jr_listings_text(struct jr_listings *listings, const char *file,
                     const char **text, size_t *size)
{
    const struct listing *found = find_file(listings, file);

    if (!found || !found->bytes.data)
        return -1;
    *text = (const char *)found->bytes.data;
    *size = found->bytes.size;
    return 0;
}

const char *jr_listings_read(const struct jr_listings *listings, size_t index,
                             const char **text, size_t *size)
{
    const struct listing *file;

    if (index >= listings->nfiles)
        return NULL;
    file = &listings->files[index];
    *text = (const char *)file->bytes.data;
    *size = file->bytes.size;
    return file->name;
}
