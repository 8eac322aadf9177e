/* SPDX-License-Identifier: MIT
 *
 * The functions of an ELF file by its symbols: disjoint ranges, each with the
 * one name that it is shown under.
 * Runs in: analyzer. */
#ifndef JR_ELF_NAMES_H
#define JR_ELF_NAMES_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

#include "candidates.h"
#include "fde.h"
#include "symbol/names/strings.h"

struct jr_name {
    uint64_t start, end;          /* ELF addresses, start < end */
    const char *name;             /* as in the file: mangled */
    const struct jr_frame *frame; /* filled by the user; NULL at first */
};

struct jr_names {
    struct jr_name *items; /* in order, disjoint */
    size_t count, room;
    unsigned languages; /* of enum jr_language, by the module's symbols */
};

/* Reads the functions of `module` (.symtab of it or of its separate debug
 * file, else .gnu_debugdata and .dynsym, then the stubs of the PLT) into the
 * zeroed *names.  Names of stubs are kept in `strings`; others live as long
 * as the module. */
void jr_names_read(Dwfl_Module *module, const struct jr_fdes *fdes,
                   struct jr_strings *strings, struct jr_names *names);

/* The function that holds `address`, or NULL. */
struct jr_name *jr_names_find(const struct jr_names *names, uint64_t address);

/* Turns the candidates into disjoint ranges: of several names for one start
 * the best is taken (visible before local, then fewest leading underscores,
 * strong before weak, short before long, then by alphabet); one without a
 * size ends at the next symbol, its FDE's or its section's end, or where it has
 * no FDE before the next one. */
void jr_names_choose(struct jr_candidates *candidates,
                     const struct jr_fdes *fdes, struct jr_names *names);

#endif
