/* SPDX-License-Identifier: MIT
 *
 * The names of a profile that was packed (doc/FORMAT.md, "The archive"): what
 * stands at the sampled addresses of each file, without the file.
 * Runs in: analyzer. */
#ifndef JR_ARCHIVED_H
#define JR_ARCHIVED_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "segments.h"
#include "symbol/names/frame.h"
#include "symbol/names/strings.h"

#define JR_ARCHIVED_HEAD "jprof-names 1" /* the first line of such a file */
#define JR_ARCHIVED_FRAMES 1024          /* of one place, at most */

/* Bits of a module's second field. */
#define JR_ARCHIVED_USABLE 1U  /* its file could be read */
#define JR_ARCHIVED_CHANGED 2U /* its file was not the one of the profile */

struct jr_archived;

/* Some machine code. */
struct jr_archived_code {
    uint64_t start; /* ELF address */
    size_t size;
    uint8_t *bytes;
};

/* A file of the profile, by what the map says of it. */
struct jr_archived_module {
    const char *key;     /* as a jr_module has it; from the strings */
    const char *path;    /* as the map has it */
    const char *package; /* whose installation brings names; NULL: not known */
    struct jr_segments segments;
    struct jr_archived_code *codes;
    size_t ncodes, codes_room;
    uint32_t number;  /* in the struct jr_archived */
    uint16_t machine; /* ELF e_machine; 0: not known */
    uint8_t usable, changed;
};

/* Returns an empty one; `strings` must outlive it. */
struct jr_archived *jr_archived_new(struct jr_strings *strings);
void jr_archived_free(struct jr_archived *archived);

/* Adds what the file of names at `path` says.  What is damaged ends it: a
 * warning says where, and the rest has no names. */
void jr_archived_read(struct jr_archived *archived, const char *path,
                      struct jr_diag *diag);

/* The same of text[0..size), `path` being what messages call it; it outlives
 * *archived.  What several files say of a module is joined. */
void jr_archived_parse(struct jr_archived *archived, const char *text,
                       size_t size, const char *path, struct jr_diag *diag);

/* The module of that key, which is one of the strings; NULL: none. */
const struct jr_archived_module *
jr_archived_module(const struct jr_archived *archived, const char *key);

/* The package of the file at `path`; NULL: not known. */
const char *jr_archived_package(const struct jr_archived *archived,
                                const char *path);

/* The functions at an ELF address of a module, innermost first, their module
 * NULL; 0: none.  *frames is valid until the next call. */
size_t jr_archived_place(struct jr_archived *archived,
                         const struct jr_archived_module *module,
                         uint64_t elf_address, const struct jr_frame **frames);

/* Where the function at an ELF address begins and ends: 0, 0 where it was not
 * asked for. */
void jr_archived_extent(struct jr_archived *archived,
                        const struct jr_archived_module *module, uint64_t at,
                        uint64_t *start, uint64_t *end);

/* Reads up to `room` bytes of code at an ELF address; returns how many there
 * are. */
size_t jr_archived_bytes(const struct jr_archived_module *module,
                         uint64_t elf_address, uint8_t *into, size_t room);

/* The number of the file that has the text of a source file, by the name that
 * frames have for it, and the path of the names that it is beside; 0: none. */
uint32_t jr_archived_source(const struct jr_archived *archived,
                            const char *file, const char **names);

#endif
