/* SPDX-License-Identifier: MIT
 *
 * Symbols as they were found, before the choice between those of one place.
 * Runs in: analyzer. */
#ifndef JR_CANDIDATES_H
#define JR_CANDIDATES_H

#include <stddef.h>
#include <stdint.h>

/* What the file says that the symbol is: the earlier ones are better names. */
enum jr_candidate_kind {
    JR_IS_FUNCTION,
    JR_IS_PIECE, /* of another type, with a size: GHC calls the code behind its
                    tables objects */
    JR_IS_LABEL  /* without type and size, but global: functions of assembly */
};

struct jr_candidate {
    uint64_t start, size;
    uint64_t section_end;
    const char *name;
    uint8_t binding; /* STB_* */
    uint8_t kind;    /* enum jr_candidate_kind */
};

struct jr_candidates {
    struct jr_candidate *items;
    size_t count, room;
};

#endif
