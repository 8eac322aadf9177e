/* SPDX-License-Identifier: MIT
 *
 * What libdwfl and libelf would unpack of a file by themselves, in memory and
 * without bound.
 * Runs in: analyzer. */
#ifndef JR_PACKED_H
#define JR_PACKED_H

#include <libelf.h>

/* May libdwfl open the file behind `fd`?  Only an ELF program or library, of
 * whose symbol and string tables none is packed; never a packed file. */
int jr_packed_is_plain(int fd);

/* Has libdwfl pass over each .gnu_debugdata of `elf` that would take too much
 * memory; says so, with the file's `path`.  To be called before the first
 * question for a symbol; `elf` must not be open for writing. */
void jr_packed_limit(Elf *elf, const char *path);

#endif
