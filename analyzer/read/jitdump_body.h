/* SPDX-License-Identifier: MIT
 *
 * Names and source lines in the records of a jitdump.
 * Runs in: analyzer. */
#ifndef JR_JITDUMP_BODY_H
#define JR_JITDUMP_BODY_H

#include "jitdump.h"

/* What a LOAD record holds besides. */
struct jr_jitdump_load {
    uint64_t start;       /* the code's address */
    uint64_t code_offset; /* of its bytes in the file */
    uint64_t code_size;
    uint32_t length; /* of name */
    char name[JR_JITDUMP_NAME_MAX + 1];
};

/* Reads the LOAD record at `offset`.  Returns 0, or -1 when there is none (by
 * now). */
int jr_jitdump_load(const struct jr_jitdump *dump, uint64_t offset,
                    struct jr_jitdump_load *load);

/* Reads the line table of the DEBUG record at `offset` for the code of
 * `load`; `bias` is what the writer added to addresses.  *lines may have no
 * items.  The caller frees it with jr_jitdump_lines_free. */
void jr_jitdump_lines(const struct jr_jitdump *dump, uint64_t offset,
                      const struct jr_jitdump_load *load, uint64_t bias,
                      struct jr_jitdump_lines *lines);
void jr_jitdump_lines_free(struct jr_jitdump_lines *lines);

#endif
