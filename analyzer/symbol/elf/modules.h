/* SPDX-License-Identifier: MIT
 *
 * The files behind mappings: opened once, compared with what the map says.
 * Runs in: analyzer. */
#ifndef JR_MODULES_H
#define JR_MODULES_H

#include "base/diag.h"
#include "base/table.h"
#include "elf.h"
#include "symbol/archived/archived.h"
#include "symbol/names/frame.h"
#include "symbol/names/strings.h"
#include "options.h"

/* A place that was asked for. */
struct jr_known {
    uint64_t place;          /* ELF address */
    struct jr_frames frames; /* the module's own; of a place without lines that
                                of its function, from the strings, and count
                                0 */
};

/* Where the function at an ELF address begins and ends. */
struct jr_extent {
    uint64_t at, start, end;
};

struct jr_module {
    const char *key;  /* path and identity, from the strings */
    const char *path; /* as the map has it */
    const char *name; /* base name of the path; with the build-id where
                                 another machine has another file of it */
    const char *base; /* the base name */
    uint64_t boot;    /* of the machine that it was first seen on */
    uint8_t id[sizeof((struct jr_mapping *)0)->build_id]; /* its build-id, */
    size_t id_size;                                       /* 0: none */
    struct jr_elf *elf; /* NULL: its symbols cannot be used */
    const struct jr_archived_module *archived; /* instead of it; NULL */
    uint8_t packed;                            /* as its map is */
    uint8_t changed;          /* the file is not the one of the profile */
    struct jr_table by_place; /* ELF addresses to indices in `known` */
    struct jr_known *known;
    size_t nknown, known_room;
    uint8_t records; /* with options.record_code, what was asked for: */
    struct jr_extent *extents;
    size_t nextents, extents_room;
    struct jr_table by_extent; /* ELF addresses to indices in `extents` */
    struct jr_archived_code *codes;
    size_t ncodes, codes_room;
    struct jr_module *next;
};

struct jr_symbols {
    struct jr_diag *diag;
    struct jr_strings *strings;
    struct jr_module *modules;
    struct jr_archived *archived; /* NULL: there are no archives */
    size_t changed;
    uint8_t has_windows;  /* a Windows program was told of */
    struct jr_table told; /* of options.folders */
    struct jr_symbols_options options;
};

/* The file of a mapping of that map.  Never NULL; lives until jr_symbols_free.
 * What cannot be used is said once a file.  Where the map is of an archive the
 * file is not looked at. */
struct jr_module *jr_modules_get(struct jr_symbols *symbols,
                                 const struct jr_mapping *mapping,
                                 const struct jr_map *map);

/* The frames of `address` in a mapping of `module`: a function with those that
 * were inlined there, or an unnamed place `module+0xSTART`, START being where
 * its FDE starts; where no FDE or no file tells, all such code of the module is
 * one, `[module]`. */
struct jr_frames jr_module_frames(struct jr_symbols *symbols,
                                  struct jr_module *module,
                                  const struct jr_mapping *mapping,
                                  uint64_t address);

/* The frames of the place module->known[index]. */
struct jr_frames jr_module_known(const struct jr_module *module, size_t index);

/* Where the code of `module` is in memory; NULL: not known. */
const struct jr_segments *jr_module_segments(const struct jr_module *module);

/* The frames of an address of the file, as jr_module_frames has them. */
struct jr_frames jr_module_at(struct jr_symbols *symbols,
                              struct jr_module *module, uint64_t elf_address);

#endif
