/* SPDX-License-Identifier: MIT
 *
 * What jprof-report makes of ELF addresses of a file, for comparisons with
 * other readers of DWARF:
 *     [JPROF_DEBUG_PATH=DIR] lines FILE <ADDRESSES
 * Of each address, a hexadecimal number a line, it writes the number, and for
 * each function at it, innermost first, a line with the name ("?" where it is
 * the symbol's) and one with FILE:LINE:COLUMN.
 * Runs in: tests. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"
#include "symbol/elf/elf.h"
#include "values.h"

static void put(struct jr_elf *elf, struct jr_strings *strings,
                uint64_t address)
{
    const struct jr_frame *frames;
    size_t count = jr_elf_lines(elf, strings, address, &frames);

    printf("0x%016" PRIx64 "\n", address);
    for (size_t i = 0; i < count; i++)
        printf("%s\n%s:%" PRIu32 ":%" PRIu32 "\n",
               frames[i].name ? frames[i].name : "?",
               frames[i].file ? frames[i].file : "?", frames[i].line,
               frames[i].column);
}

int main(int argc, char **argv)
{
    struct jr_table told = {0};
    struct jr_debug_folders folders = {.told = &told};
    char line[64], *own;
    struct jr_strings *strings;
    struct jr_elf *elf;

    if (argc != 2)
        return 64;
    own = jr_value_folders(getenv("JPROF_DEBUG_PATH"), &folders);
    elf = jr_elf_open(open(argv[1], O_RDONLY | O_CLOEXEC), argv[1], &folders);
    if (!elf)
        return 2;
    strings = jr_strings_new();
    while (fgets(line, sizeof line, stdin))
        put(elf, strings, strtoull(line, NULL, 16));
    jr_elf_free(elf);
    jr_strings_free(strings);
    jr_table_free(&told);
    free(folders.items);
    free(own);
    return 0;
}
