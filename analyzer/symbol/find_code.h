/* SPDX-License-Identifier: MIT
 *
 * The JIT code of a space for those who list it (space.c).
 * Runs in: analyzer. */
#ifndef JR_FIND_CODE_H
#define JR_FIND_CODE_H

#include "symbol/jit/jit_code.h"

struct jr_space;

/* The JIT code that holds `address` at `time_ns`, as jr_space_find picks it
 * for an address that it calls JR_FRAME_JIT.  Returns 0, or -1 when no file
 * describes it. */
int jr_jit_code_find(struct jr_space *space, uint64_t address, uint64_t time_ns,
                     struct jr_jit_code *code);

/* Reads the first `room` bytes of the code at most: from the jitdump, or
 * where there is none from a copy of executable memory that the map names.
 * Returns how many bytes were read, counted from code->start; 0: they were
 * kept nowhere. */
size_t jr_jit_code_bytes(const struct jr_jit_code *code, uint8_t *into,
                         size_t room);

#endif
