/* SPDX-License-Identifier: MIT
 *
 * Where the functions of a file start and end by its unwinding table.
 * Runs in: analyzer. */
#ifndef JR_FDE_H
#define JR_FDE_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

struct jr_fde {
    uint64_t start, end; /* ELF addresses, start < end */
};

struct jr_fdes {
    struct jr_fde *items; /* in order of start */
    size_t count, room;
};

/* Reads all entries of .eh_frame into the zeroed *fdes, which stays empty when
 * there is none.  Entries that make no sense are passed over. */
void jr_fdes_read(Elf *elf, struct jr_fdes *fdes);

/* The entry that holds `address`, or NULL. */
const struct jr_fde *jr_fdes_find(const struct jr_fdes *fdes, uint64_t address);

/* The first entry that begins behind `address`, or NULL. */
const struct jr_fde *jr_fdes_after(const struct jr_fdes *fdes,
                                   uint64_t address);

#endif
