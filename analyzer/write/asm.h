/* SPDX-License-Identifier: MIT
 *
 * Lists a piece of JIT code: its instructions, each with the weight of the
 * samples at it, and their source lines.
 * Runs in: analyzer. */
#ifndef JR_ASM_H
#define JR_ASM_H

#include "model/code.h"
#include "symbol/listing.h"

/* Functions that receive the lines.  Texts are untrusted and not escaped. */
struct jr_asm_sink {
    /* Source: text NULL when the file was not found; column 0: not known. */
    void (*source)(void *data, const char *file, uint32_t line, uint32_t column,
                   const char *text);
    void (*instruction)(void *data, uint64_t address, const char *text,
                        uint64_t weight_ns);
    /* `count` instructions left out. */
    void (*gap)(void *data, size_t count);
    void *data;
};

/* How much of the code is listed. */
struct jr_asm_limits {
    size_t whole;     /* up to so many instructions: all of them */
    size_t around;    /* else so many before and behind each sampled one */
    size_t most;      /* and so many in all */
    size_t addresses; /* sampled ones whose code was not kept */
    int offsets;      /* targets of jumps within the code as its offsets */
};

/* Whether instructions could be listed. */
enum jr_asm_result {
    JR_ASM_WHOLE = 0,
    JR_ASM_NO_BYTES,  /* the code was kept nowhere: addresses only */
    JR_ASM_NO_MACHINE /* no disassembler: addresses only */
};

/* Lists `version`; its code is for `machine` (an ELF number) unless the file of
 * the code names another machine. */
enum jr_asm_result jr_asm_list(const struct jr_code_version *version,
                               uint16_t machine, struct jr_listings *listings,
                               const struct jr_asm_limits *limits,
                               const struct jr_asm_sink *sink);

#endif
