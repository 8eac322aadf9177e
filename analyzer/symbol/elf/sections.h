/* SPDX-License-Identifier: MIT
 *
 * The packed sections of a file's DWARF, before libdw sees them: what nobody
 * asks for stays packed, and the rest is unpacked by the fastest library that
 * is there.
 * Runs in: analyzer. */
#ifndef JR_SECTIONS_H
#define JR_SECTIONS_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/* What sections were unpacked to. */
struct jr_sections {
    void **items;
    size_t count, room;
    uint64_t before, after; /* bytes in all */
};

/* Unpacks sections of `elf` that are packed by zstd, which libelf does from
 * 0.189 on, and by zlib where jprof-report is built with libdeflate, in memory
 * only, so that libdw finds them plain; hides those that only places of
 * variables and macros are in, which libdw would unpack as well.  Says with the
 * file's `path` that a section of zstd's is damaged, or would unpack to more
 * than DWARF does; what is damaged of zlib's is left to libelf.  To be called
 * before libdw sees the sections; what *unpacked holds must outlive `elf`. */
void jr_sections_unpack(Elf *elf, const char *path,
                        struct jr_sections *unpacked);
void jr_sections_free(struct jr_sections *unpacked);

#endif
