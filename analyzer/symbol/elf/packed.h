/* SPDX-License-Identifier: MIT
 *
 * What libdwfl and libelf would unpack of a file by themselves, in memory and
 * without bound.
 * Runs in: analyzer. */
#ifndef JR_PACKED_H
#define JR_PACKED_H

#include <libelf.h>
#include <stdint.h>

/* Whether libdwfl may open the file behind `fd`: only an ELF program or library
 * without compressed symbol and string tables, never a compressed file. */
int jr_packed_is_plain(int fd);

/* Has libdwfl pass over each .gnu_debugdata of `elf` that would take too much
 * memory; says so, with the file's `path`.  To be called before the first
 * question for a symbol; `elf` must not be open for writing. */
void jr_packed_limit(Elf *elf, const char *path);

/* How many bytes the packed DWARF of `elf` unpacks to, when that is more than
 * real DWARF does; else 0: libdw may unpack it. */
uint64_t jr_packed_dwarf_excess(Elf *elf);

/* Whether DWARF of so many bytes may well unpack to so many. */
int jr_packed_is_usual(uint64_t packed, uint64_t unpacked);

#endif
