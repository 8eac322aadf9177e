/* SPDX-License-Identifier: MIT
 *
 * The machine code of modules.
 * Runs in: analyzer. */
#ifndef JR_MODULE_CODE_H
#define JR_MODULE_CODE_H

#include "modules.h"

/* Makes the address *at of a mapping one of the module's file, and finds where
 * its function begins and ends by symbol or, without one, by FDE: 0, 0 where
 * neither tells, or the file cannot be read. */
void jr_module_extent(struct jr_symbols *symbols, struct jr_module *module,
                      const struct jr_mapping *mapping, uint64_t *at,
                      uint64_t *start, uint64_t *end);

/* Reads up to `room` bytes of code at an address of the file; returns how many
 * it has there. */
size_t jr_module_bytes(struct jr_module *module, uint64_t elf_address,
                       uint8_t *into, size_t room);

/* ELF e_machine of the file; 0: not known. */
uint16_t jr_module_machine(const struct jr_module *module);

#endif
