/* SPDX-License-Identifier: MIT
 *
 * Inlined functions and source lines of an ELF file, by its DWARF.
 * Runs in: analyzer. */
#ifndef JR_DWARF_H
#define JR_DWARF_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/names/frame.h"
#include "symbol/names/strings.h"

struct jr_dwarf;

/* Opens debug information; `bias` is what its addresses have to be moved by to
 * be those of the ELF file, which `path` names in messages; `file` is the one
 * that has the DWARF, it or its debug file.  What cannot be read is said
 * once.  Returns NULL when there are no units with code; `debug`
 * and `strings` must outlive the result. */
struct jr_dwarf *jr_dwarf_open(Dwarf *debug, uint64_t bias, const char *path,
                               const char *file, struct jr_strings *strings);
void jr_dwarf_free(struct jr_dwarf *dwarf);

/* What stands at an ELF address: functions that were inlined, innermost first,
 * and last the one that they are in.  Each has file, line and column as far as
 * they are known; its name is demangled, NULL only where DWARF has none; there
 * is no module.  Returns how many there are, 0: DWARF says nothing of the
 * address.  *frames is valid until the next call. */
size_t jr_dwarf_find(struct jr_dwarf *dwarf, uint64_t elf_address,
                     const struct jr_frame **frames);

#endif
