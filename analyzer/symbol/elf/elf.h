/* SPDX-License-Identifier: MIT
 *
 * An ELF file with code: who it is, where its code lies, what it is called.
 * Runs in: analyzer. */
#ifndef JR_ELF_H
#define JR_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "elf_names.h"
#include "fde.h"
#include "read/map.h"
#include "symbol/archived/segments.h"
#include "symbol/names/strings.h"
#include "options.h"

struct jr_elf;

/* Opens the ELF file behind `fd`; takes `fd` over.  `path` tells where
 * separate debug files are looked for, beside `folders`, which must outlive the
 * result.  Returns NULL when it is no ELF file
 * with code. */
struct jr_elf *jr_elf_open(int fd, const char *path,
                           const struct jr_debug_folders *folders);
void jr_elf_free(struct jr_elf *elf);

/* Its build-id in *id; returns the bytes of it, 0: it has none. */
size_t jr_elf_build_id(const struct jr_elf *elf, const uint8_t **id);

/* The ELF address of `address` in `mapping`: by the bias, else by the file
 * offset and the program headers.  Returns 0, or -1 when it lies in none. */
int jr_elf_address(const struct jr_elf *elf, const struct jr_mapping *mapping,
                   uint64_t address, uint64_t *elf_address);

/* Where its code is in memory; as long as *elf lives. */
const struct jr_segments *jr_elf_segments(const struct jr_elf *elf);

/* The named function at an ELF address, or NULL.  The tables are read at the
 * first call. */
struct jr_name *jr_elf_name(struct jr_elf *elf, struct jr_strings *strings,
                            uint64_t elf_address);

/* Languages of its code, of enum jr_language, once a name was asked for. */
unsigned jr_elf_languages(const struct jr_elf *elf);

/* The functions at an ELF address by DWARF, as jr_dwarf_find has them; 0:
 * nothing is known.  Debug information is looked for at the first call. */
size_t jr_elf_lines(struct jr_elf *elf, struct jr_strings *strings,
                    uint64_t elf_address, const struct jr_frame **frames);

/* Reads up to `room` bytes of the code at an ELF address, as the file has them;
 * returns how many it has there: none where a debug file leaves the code out,
 * or what stands there is no code. */
size_t jr_elf_bytes(const struct jr_elf *elf, uint64_t elf_address,
                    uint8_t *into, size_t room);

/* Its e_machine. */
uint16_t jr_elf_machine(const struct jr_elf *elf);

/* The unwinding entry at an ELF address, or NULL. */
const struct jr_fde *jr_elf_fde(struct jr_elf *elf, uint64_t elf_address);

#endif
