/* SPDX-License-Identifier: MIT
 *
 * The sections of line tables, by their names.
 * Runs in: analyzer. */
#include "line_sections.h"

#include <string.h>

#include "named.h"

/* Leaves out what has no end, so that each place has a text. */
static void end_texts(struct jr_line_bytes *bytes)
{
    while (bytes->size > 0 && bytes->start[bytes->size - 1] != '\0')
        bytes->size--;
}

void jr_line_sections_find(struct jr_line_sections *sections, Elf *elf)
{
    const struct {
        const char *name, *packed;
        struct jr_line_bytes *bytes;
    } wanted[] = {
        {".debug_line", ".zdebug_line", &sections->table},
        {".debug_line_str", ".zdebug_line_str", &sections->texts},
        {".debug_str", ".zdebug_str", &sections->other_texts},
    };
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *name;

    while ((name = jr_named_next(elf, &section, &header))) {
        const Elf_Data *data;

        if (header.sh_flags & SHF_COMPRESSED)
            continue;
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            if (strcmp(name, wanted[i].name) != 0 &&
                strcmp(name, wanted[i].packed) != 0)
                continue;
            data = elf_rawdata(section, NULL);
            if (data && data->d_buf && wanted[i].bytes->size == 0)
                *wanted[i].bytes =
                    (struct jr_line_bytes){data->d_buf, data->d_size};
        }
    }
    end_texts(&sections->texts);
    end_texts(&sections->other_texts);
}
