/* SPDX-License-Identifier: MIT
 *
 * The code of a space for those who list it: JIT code and that of files.
 * Runs in: analyzer. */
#ifndef JR_FIND_CODE_H
#define JR_FIND_CODE_H

#include "symbol/jit/jit_code.h"
#include "symbol/names/frame.h"

struct jr_mapping;
struct jr_module;
struct jr_space;
struct jr_symbols;

/* A function's code in one place. */
struct jr_code_piece {
    uint64_t start, end;          /* addresses: of the process, of a file's code
                                     those of the file.  0, 0: nothing tells
                                     where the file's function begins */
    uint64_t loaded_ns, until_ns; /* of JIT code: live in [loaded, until) */
    uint16_t machine;             /* ELF e_machine; 0: that of the process */
    struct jr_jit_code jit;       /* where there is no module */
    struct jr_module *module;     /* the file; NULL: JIT code or a script's */
    struct jr_symbols *symbols;   /* with a module */
    struct jr_space *script;      /* of a script's function, which has no
                                     machine code: its `start` and `end` are
                                     frames (jp_script.h) */
};

/* The code at `address` at `time_ns`, as jr_space_find names it, and in *at the
 * address as the piece counts it.  Returns 0, or -1 when there is none that a
 * file holds or describes. */
int jr_code_find(struct jr_space *space, uint64_t address, uint64_t time_ns,
                 struct jr_code_piece *piece, uint64_t *at);

/* Reads the first `room` bytes of the piece at most; returns how many there
 * were, 0: the code is nowhere. */
size_t jr_code_bytes(const struct jr_code_piece *piece, uint8_t *into,
                     size_t room);

/* The functions at `at` with their lines, innermost first.  Of JIT code it is
 * one frame without a name, made in *room, or none where no line is known.
 * Those of a file are valid until the symbols are freed. */
struct jr_frames jr_code_frames(const struct jr_code_piece *piece, uint64_t at,
                                struct jr_frame *room);

/* Base name of the piece's file; NULL: JIT code. */
const char *jr_code_module(const struct jr_code_piece *piece);

/* Whether the piece is a script's function. */
int jr_code_is_script(const struct jr_code_piece *piece);

/* Whether the piece's file could be read. */
int jr_code_has_file(const struct jr_code_piece *piece);

#endif
