/* SPDX-License-Identifier: MIT
 *
 * The files behind mappings: opened once, compared with what the map says.
 * Runs in: analyzer. */
#ifndef JR_MODULES_H
#define JR_MODULES_H

#include "base/diag.h"
#include "elf.h"
#include "symbol/names/frame.h"
#include "symbol/names/strings.h"
#include "symbols.h"

struct jr_module {
    const char *key;    /* path and identity, from the strings */
    const char *name;   /* base name of the path */
    struct jr_elf *elf; /* NULL: its symbols cannot be used */
    struct jr_module *next;
};

struct jr_symbols {
    struct jr_diag *diag;
    struct jr_strings *strings;
    struct jr_module *modules;
    size_t changed;
};

/* The file of a mapping that has one.  Never NULL; lives until
 * jr_symbols_free.  What cannot be used is said once a file. */
struct jr_module *jr_modules_get(struct jr_symbols *symbols,
                                 const struct jr_mapping *mapping);

/* The frame of `address` in a mapping of `module`: a function, or an unnamed
 * place `module+0xSTART`, START being where its FDE starts, or else, where no
 * FDE or no file tells, the 4 KiB page of the ELF address (of the file's
 * offset, when there is no ELF address). */
const struct jr_frame *jr_module_frame(struct jr_symbols *symbols,
                                       struct jr_module *module,
                                       const struct jr_mapping *mapping,
                                       uint64_t address);

#endif
