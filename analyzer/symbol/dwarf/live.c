/* SPDX-License-Identifier: MIT
 *
 * The executable sections of a file.
 * Runs in: analyzer. */
#include "live.h"

#include <gelf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

static int by_start(const void *one, const void *other)
{
    const struct jr_live_part *a = one, *b = other;

    return a->start < b->start ? -1 : a->start > b->start;
}

/* Makes one of parts that touch each other. */
static void join(struct jr_live *live)
{
    size_t kept = 1;

    qsort(live->items, live->count, sizeof *live->items, by_start);
    for (size_t i = 1; i < live->count; i++) {
        const struct jr_live_part *part = &live->items[i];
        struct jr_live_part *last = &live->items[kept - 1];

        if (part->start > last->end)
            live->items[kept++] = *part;
        else if (part->end > last->end)
            last->end = part->end;
    }
    live->count = kept;
}

void jr_live_read(struct jr_live *live, Elf *elf)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        uint64_t end;

        if (gelf_getshdr(section, &header) &&
            (header.sh_flags & SHF_EXECINSTR) && header.sh_size > 0 &&
            !__builtin_add_overflow(header.sh_addr, header.sh_size, &end))
            *JR_PUSH(live->items, live->count, live->room) =
                (struct jr_live_part){header.sh_addr, end};
    }
    if (live->count == 0)
        *JR_PUSH(live->items, live->count, live->room) =
            (struct jr_live_part){2, UINT64_MAX - 1};
    join(live);
}

void jr_live_free(struct jr_live *live)
{
    free(live->items);
    *live = (struct jr_live){0};
}

int jr_live_has(const struct jr_live *live, uint64_t address)
{
    const size_t from =
        JR_FIRST_NOT(live->count, i, live->items[i].start <= address);

    return from > 0 && address < live->items[from - 1].end;
}
