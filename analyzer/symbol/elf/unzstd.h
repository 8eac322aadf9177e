/* SPDX-License-Identifier: MIT
 *
 * Sections that are packed by zstd, which libelf unpacks from 0.189 on.
 * Runs in: analyzer. */
#ifndef JR_UNZSTD_H
#define JR_UNZSTD_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/* What sections were unpacked to. */
struct jr_unzstd {
    void **items;
    size_t count, room;
    uint64_t before, after; /* bytes in all */
};

/* Unpacks the sections of `elf` that are packed by zstd, in memory only, so
 * that libdw finds them plain; says with the file's `path` that one cannot be,
 * or would unpack to more than DWARF does.  To be called before libdw sees
 * them; what *unpacked holds must outlive `elf`. */
void jr_unzstd(Elf *elf, const char *path, struct jr_unzstd *unpacked);
void jr_unzstd_free(struct jr_unzstd *unpacked);

#endif
