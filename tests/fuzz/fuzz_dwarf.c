/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: inlined functions and lines of an ELF file.  The input is the
 * file, or three times a size (u32, little endian) and so many bytes: the file,
 * what dwz moved out of it (/held/alternate), and its .dwo file
 * (/proc/self/fd/900); tests/tools/dwarfseeds.py makes such.
 * Each section of DWARF is read where it ends, but for the zeros that it is
 * given (texts.h), at a page that nobody may touch: in a file, what is read
 * behind its end is another section.
 * Runs in: fuzz tests. */
#include <elf.h>
#include <gelf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "held.h"
#include "parts.h"
#include "symbol/dwarf/texts.h"
#include "symbol/elf/elf.h"
#include "symbol/elf/sections.h"

#define FIRST 0x1000
#define LAST 0x3000
#define FILES 3
#define DWO_NUMBER 900
#define PLACES 64          /* for a section each */
#define PLACE (128U << 10) /* bytes; longer sections stay where they are */
#define PAGE 4096U
#define SECTIONS_MAX 64U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __real_jr_sections_unpack(Elf *elf, const char *path,
                               struct jr_sections *unpacked);
void __wrap_jr_sections_unpack(Elf *elf, const char *path,
                               struct jr_sections *unpacked);
void __wrap_jr_texts_end(struct jr_texts *texts, Dwarf *dwarf,
                         void *const *unpacked, size_t count);

static size_t used; /* of the places */

/* The end of a place that is free; NULL: there is none. */
static uint8_t *end_of_place(void)
{
    static uint8_t *places;

    if (!places) {
        places = mmap(NULL, PLACES * (PLACE + PAGE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (places == MAP_FAILED)
            abort();
        for (size_t i = 1; i <= PLACES; i++)
            if (mprotect(places + i * (PLACE + PAGE) - PAGE, PAGE, PROT_NONE) !=
                0)
                abort();
    }
    return used < PLACES ? places + ++used * (PLACE + PAGE) - PAGE : NULL;
}

static int is_debug(const char *name)
{
    return name && (strncmp(name, ".debug", 6) == 0 ||
                    strncmp(name, ".gnu_debugaltlink", 17) == 0);
}

static void set_apart(Elf_Scn *section)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    Elf_Data *shown = elf_getdata(section, NULL);
    uint8_t *end;

    if (!data || !shown || !data->d_buf || data->d_size == 0 ||
        data->d_size > PLACE - JR_TEXTS_ROOM || shown->d_size != data->d_size)
        return;
    end = end_of_place();
    if (!end)
        return;
    end -= JR_TEXTS_ROOM;
    memcpy(end - data->d_size, data->d_buf, data->d_size);
    data->d_buf = shown->d_buf = end - data->d_size;
}

/* What the code under test does before libdw sees the file. */
void __wrap_jr_sections_unpack(Elf *elf, const char *path,
                               struct jr_sections *unpacked)
{
    Elf_Scn *section = NULL;
    size_t names;

    __real_jr_sections_unpack(elf, path, unpacked);
    if (elf_getshdrstrndx(elf, &names) < 0)
        return;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;

        if (gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS &&
            !(header.sh_flags & SHF_COMPRESSED) &&
            is_debug(elf_strptr(elf, names, header.sh_name)))
            set_apart(section);
    }
}

/* What the code under test does once libdw has seen it: done above. */
void __wrap_jr_texts_end(struct jr_texts *texts, Dwarf *dwarf,
                         void *const *unpacked, size_t count)
{
    (void)texts;
    (void)dwarf;
    (void)unpacked;
    (void)count;
}

static int is_elf(const uint8_t *data, size_t size)
{
    return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

static void put_files(const uint8_t *data, size_t size)
{
    static const char *const names[FILES] = {"program", "alternate", "dwo"};
    struct part parts[FILES] = {{0, size}};

    if (!is_elf(data, size))
        parts_find(data, size, FILES, parts);
    for (size_t i = 0; i < FILES; i++)
        held_put(names[i], data + parts[i].at, parts[i].size);
    held_number(names[2], DWO_NUMBER);
}

/* The sections of DWARF of an ELF file of 64 bits; returns how many. */
static size_t find_sections(const uint8_t *data, size_t size,
                            struct part found[SECTIONS_MAX])
{
    Elf64_Ehdr head;
    Elf64_Shdr section, names = {0};
    size_t count = 0;

    if (!is_elf(data, size) || size < sizeof head)
        return 0;
    memcpy(&head, data, sizeof head);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < head.e_shnum && i < SECTIONS_MAX; i++) {
            const uint64_t at = head.e_shoff + i * sizeof section;

            if (at > size || size - at < sizeof section)
                return count;
            memcpy(&section, data + at, sizeof section);
            if (section.sh_offset > size ||
                size - section.sh_offset < section.sh_size)
                continue;
            if (pass == 0 && i == head.e_shstrndx)
                names = section;
            if (pass == 0 || section.sh_size == 0 ||
                section.sh_name >= names.sh_size ||
                names.sh_size - section.sh_name < 8 ||
                (memcmp(data + names.sh_offset + section.sh_name, ".debug",
                        6) != 0 &&
                 memcmp(data + names.sh_offset + section.sh_name, ".zdebug",
                        7) != 0))
                continue;
            found[count++] = (struct part){section.sh_offset, section.sh_size};
        }
    return count;
}

/* Nearly always within one section of DWARF: most of a file is none. */
static size_t change(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    struct part found[SECTIONS_MAX];
    const size_t count = find_sections(data, size, found);
    const struct part *section;

    if (count == 0 || seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, most);
    section = &found[seed / 16 % count];
    LLVMFuzzerMutate(data + section->at, section->size, section->size);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned seed)
{
    if (is_elf(data, size))
        return change(data, size, most, seed);
    return parts_mutate(data, size, most, seed, FILES, change);
}

static void check(const struct jr_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i].inlined != (i + 1 < count) ||
            (frames[i].inlined && !frames[i].name) ||
            (frames[i].line && !frames[i].file))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct jr_debug_folders none = {0};
    struct jr_strings *strings;
    struct jr_elf *elf;
    const char *why;
    struct stat info;

    used = 0;
    held_keep_memory();
    put_files(data, size);
    held_alone(1);
    /* libdwfl closes what it is given. */
    elf = jr_elf_open(dup(jr_file_open(HELD_FOLDER "program", &info, &why)),
                      "fuzz", &none);
    strings = elf ? jr_strings_new() : NULL;
    for (uint64_t at = FIRST; elf && at < LAST; at += 8) {
        const struct jr_frame *frames;

        const size_t count = jr_elf_lines(elf, strings, at, &frames);

        check(frames, count);
    }
    jr_elf_free(elf);
    if (strings)
        jr_strings_free(strings);
    held_alone(0);
    return 0;
}
