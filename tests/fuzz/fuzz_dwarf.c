/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: inlined functions and lines of an ELF file.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/elf/elf.h"

#define FIRST 0x1000
#define LAST 0x3000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct jr_debug_folders none = {0};
    struct jr_strings *strings;
    struct jr_elf *elf;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    elf = jr_elf_open(fd, "fuzz", &none);
    if (!elf)
        return 0;
    strings = jr_strings_new();
    for (uint64_t at = FIRST; at < LAST; at += 8) {
        const struct jr_frame *frames;
        size_t count = jr_elf_lines(elf, strings, at, &frames);

        for (size_t i = 0; i < count; i++)
            if (frames[i].inlined != (i + 1 < count) ||
                (frames[i].inlined && !frames[i].name) ||
                (frames[i].line && !frames[i].file))
                abort();
    }
    jr_elf_free(elf);
    jr_strings_free(strings);
    return 0;
}
