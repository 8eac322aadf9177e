/* SPDX-License-Identifier: MIT
 *
 * The machine code of modules: from their files or from an archive, for which
 * it is recorded what was asked for.
 * Runs in: analyzer. */
#include "module_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "debugfile.h"

/* Where the function at an ELF address begins and ends; 0, 0: not known. */
static void find_extent(struct jr_symbols *symbols, struct jr_module *module,
                        uint64_t at, uint64_t *start, uint64_t *end)
{
    const struct jr_name *name;
    const struct jr_fde *fde;

    if (module->archived) {
        jr_archived_extent(symbols->archived, module->archived, at, start, end);
        return;
    }
    name = jr_elf_name(module->elf, symbols->strings, at);
    fde = name ? NULL : jr_elf_fde(module->elf, at);
    if (name || fde) {
        *start = name ? name->start : fde->start;
        *end = name ? name->end : fde->end;
    }
}

void jr_module_extent(struct jr_symbols *symbols, struct jr_module *module,
                      const struct jr_mapping *mapping, uint64_t *at,
                      uint64_t *start, uint64_t *end)
{
    const struct jr_segments *segments = jr_module_segments(module);
    const uint32_t fresh = (uint32_t)module->nextents;

    *start = *end = 0;
    if (!segments || jr_segments_address(segments, mapping, *at, at) != 0) {
        *at -= mapping->has_bias ? mapping->bias
                                 : mapping->start - mapping->offset;
        return;
    }
    find_extent(symbols, module, *at, start, end);
    if (module->records && *start < *end &&
        jr_table_put(&module->by_extent, *at, 0, fresh) == fresh)
        *JR_PUSH(module->extents, module->nextents, module->extents_room) =
            (struct jr_extent){*at, *start, *end};
}

static void record(struct jr_module *module, uint64_t address,
                   const uint8_t *bytes, size_t size)
{
    struct jr_archived_code *code;

    for (size_t i = 0; i < module->ncodes; i++)
        if (module->codes[i].start == address && module->codes[i].size >= size)
            return;
    code = JR_PUSH(module->codes, module->ncodes, module->codes_room);
    *code = (struct jr_archived_code){address, size, jr_alloc(size, 1)};
    memcpy(code->bytes, bytes, size);
}

size_t jr_module_bytes(struct jr_module *module, uint64_t elf_address,
                       uint8_t *into, size_t room)
{
    size_t got = 0;

    if (module->archived)
        got = jr_archived_bytes(module->archived, elf_address, into, room);
    else if (module->elf)
        got = jr_elf_bytes(module->elf, elf_address, into, room);
    if (module->records && got > 0)
        record(module, elf_address, into, got);
    return got;
}

uint16_t jr_module_machine(const struct jr_module *module)
{
    if (module->archived)
        return module->archived->machine;
    return module->elf ? jr_elf_machine(module->elf) : 0;
}
