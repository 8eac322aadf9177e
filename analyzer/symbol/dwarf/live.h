/* SPDX-License-Identifier: MIT
 *
 * Which addresses of a file can have code.  Functions that the linker left out
 * keep their DWARF: it has them begin where no code is, and as long as they
 * were, so that they reach into what is there.  Linkers write 0, 1 in lists of
 * ranges, the highest address or the one before (DWARF's issue 200609.1, LLVM's
 * "dead-reloc-in-nonalloc"), and older ones what the place in the section was.
 * Runs in: analyzer. */
#ifndef JR_LIVE_H
#define JR_LIVE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct jr_live_part {
    uint64_t start, end;
};

struct jr_live {
    struct jr_live_part *items; /* in order, none in another */
    size_t count, room;
};

/* Reads where the executable sections of a file are, or of a debug file where
 * those of its program are.  Where it has none, only what linkers write is no
 * code. */
void jr_live_read(struct jr_live *live, Elf *elf);
void jr_live_free(struct jr_live *live);

/* Whether what begins at `address` is code of the file. */
int jr_live_has(const struct jr_live *live, uint64_t address);

#endif
