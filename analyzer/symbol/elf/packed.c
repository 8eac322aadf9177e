/* SPDX-License-Identifier: MIT
 *
 * Bounds what is unpacked: a packed file or table is refused, and the packed
 * symbol table in .gnu_debugdata is measured first.
 * Runs in: analyzer. */
#include "packed.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"

#define FILE_MAX (64ULL << 20)    /* unpacked bytes of one .gnu_debugdata */
#define REPORT_MAX (256ULL << 20) /* and of all that a report reads */

/* DWARF packs to a fifth at best; a small file may do better. */
#define DWARF_RATIO_MAX 8
#define DWARF_FREE (64ULL << 20)

/* The .xz File Format, version 1.2.1, sections 2.1.1 (stream header), 3
 * (block) and 4 (index). */
static const uint8_t xz_magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
#define XZ_HEADER_SIZE 12
#define XZ_FLAGS_AT 7 /* the byte that says which check blocks end with */

/* Whether no table in the file is compressed, by SHF_COMPRESSED of the ELF
 * gABI or as the older .zdebug sections. The usual tools compress nothing
 * but DWARF. */
static int has_plain_tables(Elf *elf)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        Elf_Data *data;

        if (!gelf_getshdr(section, &header))
            return 0;
        if (header.sh_type == SHT_PROGBITS || header.sh_type == SHT_NOBITS)
            continue;
        if (header.sh_flags & SHF_COMPRESSED)
            return 0;
        data = header.sh_type == SHT_STRTAB ? elf_rawdata(section, NULL) : NULL;
        if (data && data->d_buf && data->d_size >= 4 &&
            !memcmp(data->d_buf, "ZLIB", 4))
            return 0;
    }
    return 1;
}

int jr_packed_is_plain(int fd)
{
    unsigned char magic[SELFMAG];
    GElf_Ehdr header;
    int plain;
    Elf *elf;

    if (jr_file_pread(fd, magic, sizeof magic, 0) != sizeof magic ||
        memcmp(magic, ELFMAG, SELFMAG) != 0)
        return 0;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    /* Of a relocatable file libdwfl unpacks all that it relocates. */
    plain = elf && gelf_getehdr(elf, &header) &&
            (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
            has_plain_tables(elf);
    elf_end(elf);
    return plain;
}

struct cursor {
    const uint8_t *data;
    size_t size, at;
    uint64_t unpacked;
};

static size_t big16(const uint8_t *at)
{
    return (size_t)at[0] << 8 | at[1];
}

/* Goes over the LZMA2 chunks of a block, by their heads (described at the top
 * of Lzma2Dec.c in the LZMA SDK): a control byte, the unpacked size less one
 * and, of a packed chunk, the packed size less one and at times a byte of
 * properties.  Returns -1 when they do not end with the control byte 0. */
static int pass_chunks(struct cursor *cursor)
{
    while (cursor->at < cursor->size) {
        const uint8_t *chunk = cursor->data + cursor->at;
        size_t left = cursor->size - cursor->at, head, packed, unpacked;

        if (chunk[0] == 0) {
            cursor->at++;
            return 0;
        }
        head = chunk[0] < 0x80 ? 3 : chunk[0] < 0xc0 ? 5 : 6;
        if (left < head || (chunk[0] > 2 && chunk[0] < 0x80))
            return -1;
        unpacked = big16(chunk + 1) + 1;
        packed = unpacked;
        if (chunk[0] >= 0x80) {
            unpacked += (size_t)(chunk[0] & 0x1f) << 16;
            packed = big16(chunk + 3) + 1;
        }
        if (left - head < packed)
            return -1;
        cursor->unpacked += unpacked;
        cursor->at += head + packed;
    }
    return -1;
}

/* Bytes that a stream of xz unpacks to; UINT64_MAX when it is none.  The sizes
 * in its index are no bound: they are compared when all is unpacked.  Those of
 * chunks are, and LZMA2 is the last filter of each block. */
static uint64_t unpacked_size(const uint8_t *data, size_t size)
{
    static const uint8_t check_sizes[16] = {0,  4,  4,  4,  8,  8,  8,  16,
                                            16, 16, 32, 32, 32, 64, 64, 64};
    struct cursor cursor = {data, size, XZ_HEADER_SIZE, 0};
    size_t check;

    if (size < XZ_HEADER_SIZE || memcmp(data, xz_magic, sizeof xz_magic) != 0)
        return UINT64_MAX;
    check = check_sizes[data[XZ_FLAGS_AT] & 15];
    /* In the place of a block header's size, a 0 begins the index. */
    while (cursor.at < size && data[cursor.at]) {
        cursor.at += ((size_t)data[cursor.at] + 1) * 4;
        if (pass_chunks(&cursor) < 0)
            return UINT64_MAX;
        cursor.at = ((cursor.at + 3) & ~(size_t)3) + check;
    }
    return cursor.at < size ? cursor.unpacked : UINT64_MAX;
}

/* Whether it unpacks to an ELF file that has no compressed tables itself. */
static int has_plain_content(const uint8_t *data, size_t size)
{
    int fd = memfd_create("debugdata", MFD_CLOEXEC), plain = 0;
    size_t done = 0;
    Elf *elf;

    while (fd >= 0 && done < size) {
        ssize_t put = write(fd, data + done, size - done);

        if (put <= 0)
            break;
        done += (size_t)put;
    }
    if (fd >= 0 && done == size) {
        elf = dwelf_elf_begin(fd);
        plain = elf && elf_kind(elf) == ELF_K_ELF && has_plain_tables(elf);
        elf_end(elf);
    }
    if (fd >= 0)
        close(fd);
    return plain;
}

static int is_bearable(Elf_Scn *section)
{
    static uint64_t left = REPORT_MAX;
    Elf_Data *data = elf_rawdata(section, NULL);
    uint64_t size;

    if (!data || !data->d_buf)
        return 0;
    size = unpacked_size(data->d_buf, data->d_size);
    if (size > FILE_MAX || size > left ||
        !has_plain_content(data->d_buf, data->d_size))
        return 0;
    left -= size;
    return 1;
}

void jr_packed_limit(Elf *elf, const char *path)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name;

        if (!gelf_getshdr(section, &header))
            return;
        name = elf_strptr(elf, names, header.sh_name);
        if (!name || strcmp(name, ".gnu_debugdata") != 0 ||
            is_bearable(section))
            continue;
        /* This changes the copy in memory alone. */
        header.sh_name = 0;
        gelf_update_shdr(section, &header);
        jr_say("%s: its .gnu_debugdata is not unpacked: damaged or too large",
               path);
    }
}

/* What a section unpacks to; 0: it is not packed.  The head of .zdebug sections
 * is "ZLIB" and eight bytes, the highest first (gas and gold wrote them). */
static uint64_t section_size(Elf_Scn *section, const GElf_Shdr *header,
                             const char *name)
{
    uint64_t size = 0;
    GElf_Chdr packed;
    Elf_Data *data;

    if (header->sh_flags & SHF_COMPRESSED)
        return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
    if (strncmp(name, ".zdebug", 7) != 0)
        return 0;
    data = elf_rawdata(section, NULL);
    if (!data || !data->d_buf || data->d_size < 12)
        return 0;
    for (size_t i = 4; i < 12; i++)
        size = size << 8 | ((const uint8_t *)data->d_buf)[i];
    return size;
}

int jr_packed_is_usual(uint64_t packed, uint64_t unpacked)
{
    return unpacked <= DWARF_FREE || unpacked / DWARF_RATIO_MAX <= packed;
}

uint64_t jr_packed_dwarf_excess(Elf *elf)
{
    uint64_t packed = 0, unpacked = 0;
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return 0;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name;
        uint64_t size;

        if (!gelf_getshdr(section, &header))
            return 0;
        name = elf_strptr(elf, names, header.sh_name);
        size = name ? section_size(section, &header, name) : 0;
        if (size == 0)
            continue;
        packed += header.sh_size;
        if (__builtin_add_overflow(unpacked, size, &unpacked))
            return UINT64_MAX;
    }
    return jr_packed_is_usual(packed, unpacked) ? 0 : unpacked;
}
