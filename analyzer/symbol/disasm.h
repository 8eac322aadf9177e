/* SPDX-License-Identifier: MIT
 *
 * Machine code to text, through capstone.
 * Runs in: analyzer. */
#ifndef JR_DISASM_H
#define JR_DISASM_H

#include <stddef.h>
#include <stdint.h>

/* One instruction, or data that is none (".byte 0x.."). */
struct jr_instruction {
    size_t size; /* bytes, at least 1 */
    char text[224];
};

struct jr_disasm;

/* A disassembler for an ELF e_machine; NULL where there is none for it.  The
 * caller frees it. */
struct jr_disasm *jr_disasm_new(uint16_t machine);
void jr_disasm_free(struct jr_disasm *disasm);

/* Reads the instruction at bytes[0..size), which are at `address`.  Returns 0,
 * or -1 when there is nothing to read. */
int jr_disasm_read(struct jr_disasm *disasm, const uint8_t *bytes, size_t size,
                   uint64_t address, struct jr_instruction *instruction);

#endif
