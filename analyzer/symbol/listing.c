/* SPDX-License-Identifier: MIT
 *
 * Reads source files once each, and finds their lines.  Their names come from
 * files that are not trusted: only regular files are read, and not without
 * limit; what is shown of them is a line at a time.
 * Runs in: analyzer. */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define FILES_MAX 4096 /* SpiderMonkey: one a piece of code */
#define FILE_MAX (16U << 20)
#define BYTES_MAX (64U << 20) /* of all files */

struct listing {
    char *name;
    struct jr_bytes bytes; /* data NULL: it could not be read */
    size_t *starts;        /* of lines */
    size_t nlines, room;
};

struct jr_listings {
    char *folder;
    struct listing *files;
    size_t nfiles, room;
    size_t bytes;
    size_t last; /* the file last asked for */
};

struct jr_listings *jr_listings_new(const char *folder)
{
    struct jr_listings *listings = jr_alloc(1, sizeof *listings);

    listings->folder = jr_strdup(folder);
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
    free(listings->files);
    free(listings->folder);
    free(listings);
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

static int try_path(struct jr_listings *listings, struct listing *file,
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

static void read_file(struct jr_listings *listings, struct listing *file)
{
    static const char scheme[] = "file://";
    const char *path = file->name, *slash;
    char *beside;

    if (strncmp(path, scheme, sizeof scheme - 1) == 0)
        path += sizeof scheme - 1;
    if (path[0] == '/' && try_path(listings, file, path) == 0)
        return;
    slash = strrchr(path, '/');
    path = slash ? slash + 1 : path;
    if (path[0] == '\0' || strcmp(path, ".") == 0 || strcmp(path, "..") == 0)
        return;
    beside = jr_printf("%s%s", listings->folder, path);
    (void)try_path(listings, file, beside);
    free(beside);
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
