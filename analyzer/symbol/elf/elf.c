/* SPDX-License-Identifier: MIT
 *
 * ELF files through libdwfl, each in a session of its own, at address zero:
 * its addresses are then those of the file.
 * Runs in: analyzer. */
#include "elf.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "debugfile.h"
#include "dwarffile.h"
#include "packed.h"
#include "symbol/dwarf/dwarf.h"

struct jr_elf {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    const uint8_t *id;
    size_t id_size;
    struct jr_segments segments;
    int tables_read;
    struct jr_fdes fdes;
    struct jr_names names;
    char *path;
    int lines_read;
    struct jr_dwarf *dwarf;     /* NULL: there is none */
    struct jr_dwarf_file debug; /* once lines are read */
    const struct jr_debug_folders *folders;
};

static const Dwfl_Callbacks callbacks = {
    .find_debuginfo = jr_debugfile_find,
};

static void read_segments(struct jr_elf *elf)
{
    size_t count;

    if (elf_getphdrnum(elf->elf, &count) < 0)
        return;
    for (size_t i = 0; i < count && i < 65536; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf->elf, (int)i, &header) && header.p_type == PT_LOAD)
            *JR_PUSH(elf->segments.items, elf->segments.count,
                     elf->segments.room) = (struct jr_segment){
                header.p_offset, header.p_filesz, header.p_vaddr,
                (header.p_flags & PF_X) != 0};
    }
}

struct jr_elf *jr_elf_open(int fd, const char *path,
                           const struct jr_debug_folders *folders)
{
    struct jr_elf *elf = jr_alloc(1, sizeof *elf);
    const void *id;
    void **userdata;
    Dwarf_Addr bias;
    ssize_t size;

    elf->dwfl = jr_packed_is_plain(fd) ? dwfl_begin(&callbacks) : NULL;
    if (elf->dwfl) {
        dwfl_report_begin(elf->dwfl);
        elf->module = dwfl_report_elf(elf->dwfl, path, path, fd, 0, true);
    }
    if (!elf->module) {
        close(fd);
        jr_elf_free(elf);
        return NULL;
    }
    dwfl_report_end(elf->dwfl, NULL, NULL);
    elf->folders = folders;
    dwfl_module_info(elf->module, &userdata, NULL, NULL, NULL, NULL, NULL,
                     NULL);
    *userdata = (void *)folders;
    elf->elf = dwfl_module_getelf(elf->module, &bias);
    if (!elf->elf) {
        jr_elf_free(elf);
        return NULL;
    }
    elf->path = jr_strdup(path);
    jr_packed_limit(elf->elf, path);
    size = dwelf_elf_gnu_build_id(elf->elf, &id);
    if (size > 0) {
        elf->id = id;
        elf->id_size = (size_t)size;
    }
    read_segments(elf);
    return elf;
}

void jr_elf_free(struct jr_elf *elf)
{
    if (!elf)
        return;
    jr_dwarf_free(elf->dwarf);
    if (elf->dwfl)
        dwfl_end(elf->dwfl);
    if (elf->lines_read)
        jr_dwarf_file_close(&elf->debug);
    free(elf->segments.items);
    free(elf->fdes.items);
    free(elf->names.items);
    free(elf->path);
    free(elf);
}

size_t jr_elf_build_id(const struct jr_elf *elf, const uint8_t **id)
{
    *id = elf->id;
    return elf->id_size;
}

int jr_elf_address(const struct jr_elf *elf, const struct jr_mapping *mapping,
                   uint64_t address, uint64_t *elf_address)
{
    return jr_segments_address(&elf->segments, mapping, address, elf_address);
}

const struct jr_segments *jr_elf_segments(const struct jr_elf *elf)
{
    return &elf->segments;
}

static void read_tables(struct jr_elf *elf, struct jr_strings *strings)
{
    if (elf->tables_read)
        return;
    elf->tables_read = 1;
    jr_fdes_read(elf->elf, &elf->fdes);
    jr_names_read(elf->module, &elf->fdes, strings, &elf->names);
}

struct jr_name *jr_elf_name(struct jr_elf *elf, struct jr_strings *strings,
                            uint64_t elf_address)
{
    read_tables(elf, strings);
    return jr_names_find(&elf->names, elf_address);
}

unsigned jr_elf_languages(const struct jr_elf *elf)
{
    return elf->names.languages;
}

static void read_lines(struct jr_elf *elf, struct jr_strings *strings)
{
    struct jr_dwarf_file *file = &elf->debug;

    if (elf->lines_read)
        return;
    elf->lines_read = 1;
    if (jr_dwarf_file_open(elf->module, elf->elf, elf->path, elf->folders,
                           file) == 0)
        elf->dwarf = jr_dwarf_open(file->debug, file->bias, elf->path,
                                   file->path, strings);
}

size_t jr_elf_lines(struct jr_elf *elf, struct jr_strings *strings,
                    uint64_t elf_address, const struct jr_frame **frames)
{
    read_lines(elf, strings);
    return elf->dwarf ? jr_dwarf_find(elf->dwarf, elf_address, frames) : 0;
}

/* Where in the file up to *room bytes of code at an address are; makes *room
 * what the section, or without sections the segment, has of them.  Returns 0,
 * or -1: nowhere. */
static int find_bytes(const struct jr_elf *elf, uint64_t address,
                      uint64_t *offset, size_t *room)
{
    Elf_Scn *section = NULL;
    size_t sections = 0;

    while ((section = elf_nextscn(elf->elf, section))) {
        GElf_Shdr header;

        sections++;
        if (!gelf_getshdr(section, &header) ||
            !(header.sh_flags & SHF_EXECINSTR) || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size)
            continue;
        if (header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_COMPRESSED))
            return -1;
        *offset = header.sh_offset + (address - header.sh_addr);
        if (*room > header.sh_size - (address - header.sh_addr))
            *room = (size_t)(header.sh_size - (address - header.sh_addr));
        return 0;
    }
    for (size_t i = 0; i < elf->segments.count && sections == 0; i++) {
        const struct jr_segment *segment = &elf->segments.items[i];

        if (!segment->code || address < segment->address ||
            address - segment->address >= segment->size)
            continue;
        *offset = segment->offset + (address - segment->address);
        if (*room > segment->size - (address - segment->address))
            *room = (size_t)(segment->size - (address - segment->address));
        return 0;
    }
    return -1;
}

size_t jr_elf_bytes(const struct jr_elf *elf, uint64_t elf_address,
                    uint8_t *into, size_t room)
{
    uint64_t offset = 0;
    const Elf_Data *data;

    if (find_bytes(elf, elf_address, &offset, &room) != 0 || room == 0 ||
        offset > INT64_MAX)
        return 0;
    /* It checks that the file is so long. */
    data = elf_getdata_rawchunk(elf->elf, (int64_t)offset, room, ELF_T_BYTE);
    if (!data || data->d_size < room)
        return 0;
    memcpy(into, data->d_buf, room);
    return room;
}

uint16_t jr_elf_machine(const struct jr_elf *elf)
{
    GElf_Ehdr header;

    return gelf_getehdr(elf->elf, &header) ? header.e_machine : 0;
}

const struct jr_fde *jr_elf_fde(struct jr_elf *elf, uint64_t elf_address)
{
    return jr_fdes_find(&elf->fdes, elf_address);
}
