/* SPDX-License-Identifier: MIT
 *
 * Lines of the source files that debug information names: source text, or a
 * listing of opcodes that a compiler wrote.
 * Runs in: analyzer. */
#ifndef JR_LISTING_H
#define JR_LISTING_H

#include <stddef.h>
#include <stdint.h>

struct jr_listings;
struct jr_symbols;

/* Names that begin with the folder `from` are looked for in the folder `to`,
 * too, which the user named. */
struct jr_source_map {
    const char *from, *to;
};

/* Where sources may be read: `folder`, with its slash or "", is that of the
 * log (NULL: as ""); `sources` are folders that the user named.  Where the
 * `symbols` (NULL: unknown) are from an archive, the sources are, too, and
 * nothing else is read but what is in the user's folders. */
struct jr_listing_places {
    const char *const *recorded; /* working directories and programs' folders,
                                    as the map of a profile has them that is
                                    known to be the user's own */
    size_t nrecorded;
    const struct jr_source_map *maps; /* --source-map */
    size_t nmaps;
    const char *folder;
    const char *const *sources;
    size_t nsources;
    const struct jr_symbols *symbols;
    int is_quiet; /* no message for a file that may not be read */
};

/* The files of an archive that have sources: this and a number. */
#define JR_LISTING_ARCHIVED "jprof-source-"

/* A file's name comes from a profile, which may be anybody's: it is read only
 * if, all links followed, it is below the log's folder, the working directory,
 * that of JR_WORK_FOLDER (each without files and folders whose names begin with
 * a dot; not the root folder), below a `recorded` folder, likewise, below the
 * system's headers and sources
 * (/usr/include, /usr/src), which are nobody's secret, or one of the user's
 * folders.  A file that is not where its name says is looked for where the maps
 * say, in the cache of debuginfod's client, and in the log's folder and the
 * user's, by the name's last part. */
struct jr_listings *jr_listings_new(const struct jr_listing_places *places);
void jr_listings_free(struct jr_listings *listings);

/* Line `line`, from 1 on, of `file`, as debug information names it (a path,
 * a file: URL).  Returns its length without the line break, at most
 * JR_LISTING_LINE_MAX, and sets *text, which no NUL follows; -1: not found, or
 * not to be read, which is said once.
 * Files are read when they are first asked for: regular ones, some tens of
 * megabytes in all. */
#define JR_LISTING_LINE_MAX 300
int jr_listings_line(struct jr_listings *listings, const char *file,
                     uint32_t line, const char **text);

/* All of such a file: sets *text and *size and returns 0, or returns -1.  A NUL
 * follows the text, which stays until jr_listings_free. */
int jr_listings_text(struct jr_listings *listings, const char *file,
                     const char **text, size_t *size);

/* The name of the file that was read as number `index`, from 0 on, with its
 * text; *text NULL: it could not be.  NULL: there are no more. */
const char *jr_listings_read(const struct jr_listings *listings, size_t index,
                             const char **text, size_t *size);

#endif
