/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: symbols, unwinding entries and stubs of an ELF file.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/elf/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_mapping mapping = {.start = 0x10000, .end = 0x20000};
    const struct jr_debug_folders none = {0};
    struct jr_strings *strings;
    struct jr_elf *elf;
    uint64_t address;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    elf = jr_elf_open(fd, "fuzz", &none);
    if (!elf)
        return 0;
    strings = jr_strings_new();
    for (uint64_t at = mapping.start; at < mapping.end; at += 64) {
        const struct jr_name *name;

        if (jr_elf_address(elf, &mapping, at, &address) < 0)
            continue;
        name = jr_elf_name(elf, strings, address);
        if (name && (address < name->start || address >= name->end))
            abort();
        jr_elf_fde(elf, address);
    }
    jr_elf_free(elf);
    jr_strings_free(strings);
    return 0;
}
