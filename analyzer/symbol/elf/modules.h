/* SPDX-License-Identifier: MIT
 *
 * The files behind mappings: opened once, compared with what the map says.
 * Runs in: analyzer. */
#ifndef JR_MODULES_H
#define JR_MODULES_H

#include "base/diag.h"
#include "base/table.h"
#include "elf.h"
#include "symbol/names/frame.h"
#include "symbol/names/strings.h"
#include "symbols.h"

struct jr_module {
    const char *key;  /* path and identity, from the strings */
    const char *name; /* base name of the path; with the build-id where
                                 another machine has another file of it */
    const char *base; /* the base name */
    uint64_t boot;    /* of the machine that it was first seen on */
    uint8_t id[sizeof((struct jr_mapping *)0)->build_id]; /* its build-id, */
    size_t id_size;                                       /* 0: none */
    struct jr_elf *elf;       /* NULL: its symbols cannot be used */
    struct jr_table by_place; /* ELF addresses to indices in `known` */
    struct jr_frames *known;  /* frames of places, the module's own; of one
                                 without lines the strings', and count 0 */
    size_t nknown, known_room;
    struct jr_module *next;
};

struct jr_symbols {
    struct jr_diag *diag;
    struct jr_strings *strings;
    struct jr_module *modules;
    size_t changed;
    struct jr_symbols_options options;
};

/* The file of a mapping that has one, on the machine with this boot
 * (jr_map.boot).  Never NULL; lives until jr_symbols_free.  What cannot be used
 * is said once a file. */
struct jr_module *jr_modules_get(struct jr_symbols *symbols,
                                 const struct jr_mapping *mapping,
                                 uint64_t boot);

/* The frames of `address` in a mapping of `module`: a function with those that
 * were inlined there, or an unnamed place `module+0xSTART`, START being where
 * its FDE starts; where no FDE or no file tells, all such code of the module is
 * one, `[module]`. */
struct jr_frames jr_module_frames(struct jr_symbols *symbols,
                                  struct jr_module *module,
                                  const struct jr_mapping *mapping,
                                  uint64_t address);

#endif
