/* SPDX-License-Identifier: MIT
 *
 * Separate debug files by build-id and by .gnu_debuglink.
 * Runs in: analyzer. */
#include "debugfile.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "packed.h"

#define DEBUG_ROOT "/usr/lib/debug"

static int has_build_id(int fd, const uint8_t *id, size_t size)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *bits;
    int same;

    same = elf && dwelf_elf_gnu_build_id(elf, &bits) == (ssize_t)size &&
           !memcmp(bits, id, size);
    elf_end(elf);
    return same;
}

int jr_debugfile_by_id(const uint8_t *id, size_t size, char **path)
{
    char digits[2 * 64 + 1];
    struct stat info;
    const char *why;
    int fd;

    *path = NULL;
    if (size < 2 || size > 64)
        return -1;
    for (size_t i = 0; i < size; i++) {
        digits[2 * i] = "0123456789abcdef"[id[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
    }
    digits[2 * size] = '\0';
    *path =
        jr_printf(DEBUG_ROOT "/.build-id/%.2s/%s.debug", digits, digits + 2);
    fd = jr_file_open(*path, &info, &why);
    if (fd >= 0 && jr_packed_is_plain(fd) && has_build_id(fd, id, size))
        return fd;
    if (fd >= 0)
        close(fd);
    free(*path);
    *path = NULL;
    return -1;
}

/* The checksum of .gnu_debuglink is zlib's crc32. */
static int has_checksum(int fd, uint64_t size, GElf_Word checksum)
{
    uint8_t buffer[16384];
    uLong sum = crc32(0, NULL, 0);
    uint64_t at = 0;

    while (at < size) {
        size_t got = jr_file_pread(fd, buffer, sizeof buffer, at);

        if (got == 0)
            return 0;
        sum = crc32(sum, buffer, (uInt)got);
        at += got;
    }
    return sum == checksum;
}

static int try_link(char *path, GElf_Word checksum, char **found)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);

    if (fd >= 0 && jr_packed_is_plain(fd) &&
        has_checksum(fd, (uint64_t)info.st_size, checksum)) {
        *found = path;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return -1;
}

static int find_link(const char *file, const char *link, GElf_Word checksum,
                     char **found)
{
    const char *slash = strrchr(file, '/');
    int length = slash ? (int)(slash - file) : 1;
    const char *folder = slash ? file : ".";
    int fd;

    /* The link is a file name; a path would lead anywhere. */
    if (strchr(link, '/') || !*link)
        return -1;
    fd = try_link(jr_printf("%.*s/%s", length, folder, link), checksum, found);
    if (fd < 0)
        fd = try_link(jr_printf("%.*s/.debug/%s", length, folder, link),
                      checksum, found);
    if (fd < 0 && slash)
        fd = try_link(jr_printf(DEBUG_ROOT "%.*s/%s", length, folder, link),
                      checksum, found);
    return fd;
}

int jr_debugfile_find(Dwfl_Module *module, void **userdata, const char *name,
                      Dwarf_Addr base, const char *file, const char *link,
                      GElf_Word checksum, char **found)
{
    const unsigned char *id;
    GElf_Addr where;
    int size = dwfl_module_build_id(module, &id, &where);
    int fd = -1;

    (void)userdata;
    (void)name;
    (void)base;
    if (size > 0)
        fd = jr_debugfile_by_id(id, (size_t)size, found);
    if (fd < 0 && file && link)
        fd = find_link(file, link, checksum, found);
    return fd;
}
