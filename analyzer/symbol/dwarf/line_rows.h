/* SPDX-License-Identifier: MIT
 *
 * The rows of a line table, by sequences, each of which is a piece of code that
 * the linker placed as a whole.  libdw makes one list of the rows of all
 * sequences, where those of a function that the linker left out stand among
 * those of the code that is there.
 * Runs in: analyzer. */
#ifndef JR_LINE_ROWS_H
#define JR_LINE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "live.h"

/* From `offset` on, counted from its sequence's start, until the next row. */
struct jr_line_row {
    uint32_t offset, file;
    uint32_t line, column; /* 0: not known */
};

/* A stretch [start, end) of code, with its rows. */
struct jr_line_sequence {
    uint64_t start, end;
    size_t first, count;
};

/* All zero is a table without rows. */
struct jr_line_rows {
    struct jr_line_row *items;
    size_t count, room;
    struct jr_line_sequence *sequences; /* by start */
    size_t nsequences, sequences_room;
};

/* A program that makes rows (DWARF 5, 6.2.2 to 6.2.5), and what the head of its
 * table says of it. */
struct jr_line_program {
    const uint8_t *at, *end;
    const uint8_t *lengths; /* numbers behind each of its first opcodes */
    uint8_t step;           /* bytes: what addresses are multiples of */
    uint8_t line_range, first_special;
    int8_t line_base;
};

/* Runs a program; sequences of code that is not in `live` are left out.
 * Returns 0, or -1 where it is damaged or of a kind that is not known. */
int jr_line_rows_read(struct jr_line_rows *rows,
                      const struct jr_line_program *program,
                      const struct jr_live *live);
void jr_line_rows_free(struct jr_line_rows *rows);

/* The row of the instruction at `address`, or NULL. */
const struct jr_line_row *jr_line_rows_find(const struct jr_line_rows *rows,
                                            uint64_t address);

#endif
