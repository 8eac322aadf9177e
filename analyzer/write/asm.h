/* SPDX-License-Identifier: MIT
 *
 * Lists a piece of code: its instructions, each with the weight of the samples
 * at it, their source lines, and the functions that were inlined.
 * Runs in: analyzer. */
#ifndef JR_ASM_H
#define JR_ASM_H

#include "model/code.h"
#include "symbol/listing.h"

/* Functions that receive the lines.  Texts are untrusted and not escaped. */
struct jr_asm_sink {
    /* What follows is of the first of these functions, which was inlined into
     * the next and so on; where it is one, of that itself again. */
    void (*function)(void *data, const struct jr_frames *frames);
    /* Source: text NULL when the file was not found; column 0: not known. */
    void (*source)(void *data, const char *file, uint32_t line, uint32_t column,
                   const char *text);
    void (*instruction)(void *data, uint64_t address, const char *text,
                        uint64_t weight_ns);
    /* `count` instructions left out. */
    void (*gap)(void *data, size_t count);
    void *data;
    /* The number of a hit that the last instruction has; may be NULL. */
    void (*hit)(void *data, size_t hit);
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
    JR_ASM_SCRIPT,    /* the function is a script's, without machine code, */
    JR_ASM_NO_BYTES,  /* the code was kept nowhere, */
    JR_ASM_NO_FILE,   /* its file is not here or is another, */
    JR_ASM_NO_TEXT,   /* the file here is without the code, */
    JR_ASM_NO_EXTENT, /* nothing tells where the function begins, */
    JR_ASM_NO_MACHINE /* there is no disassembler: addresses only */
};

/* What is listed, and for whom. */
struct jr_asm_job {
    const struct jr_code_version *version;
    const struct jr_function *function; /* only code that is of it */
    uint16_t machine; /* as an ELF number, where the code's file has none */
    struct jr_listings *listings;
};

/* Blanks in place of tabs and '?' in place of NULs, in a copy that the caller
 * frees. */
char *jr_asm_clean(const char *text, size_t length);

enum jr_asm_result jr_asm_list(const struct jr_asm_job *job,
                               const struct jr_asm_limits *limits,
                               const struct jr_asm_sink *sink);

#endif
