/* SPDX-License-Identifier: MIT
 *
 * The sections that line tables are in.
 * Runs in: analyzer. */
#ifndef JR_LINE_SECTIONS_H
#define JR_LINE_SECTIONS_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct jr_line_bytes {
    const uint8_t *start;
    size_t size; /* 0: the file has no such section */
};

/* The sections of a file that line tables are in: .debug_line, and their texts
 * in .debug_line_str and .debug_str, each of which ends with a zero. */
struct jr_line_sections {
    struct jr_line_bytes table, texts, other_texts;
};

/* Finds them, once libdw has unpacked them; they live as long as `elf`. */
void jr_line_sections_find(struct jr_line_sections *sections, Elf *elf);

#endif
