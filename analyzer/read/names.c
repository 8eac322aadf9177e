/* SPDX-License-Identifier: MIT
 *
 * Tells a profile's files from others.
 * Runs in: analyzer, launcher. */
#include "names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "jp_limits.h"

int jr_is_numbered(const char *name, const char *base)
{
    size_t length = strlen(base);

    if (strncmp(name, base, length) != 0)
        return 0;
    name += length;
    if (*name == '\0')
        return 1;
    return name[0] == '-' && name[1] >= '0' && name[1] <= '9' &&
           name[strspn(name, "0123456789-")] == '\0';
}

int jr_is_kept_name(const char *name)
{
    const char *dot = strchr(name, '.');

    return strncmp(name, JP_LOG_NAME, strlen(JP_LOG_NAME)) == 0 && dot &&
           !strchr(name, '/') &&
           (strncmp(dot, ".perf-", 6) == 0 || strncmp(dot, ".jit-", 5) == 0);
}

char *jr_module_name(const uint8_t *id, size_t size, uint64_t inode,
                     uint64_t mtime_ns)
{
    char hex[2 * 32 + 1] = "";

    for (size_t i = 0; i < size && i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    return size ? jr_printf(JP_LOG_NAME ".elf-%s", hex)
                : jr_printf(JP_LOG_NAME ".elf-i%" PRIu64 "-%" PRIu64, inode,
                            mtime_ns);
}

const char *jr_header_refuse(const struct jp_log_header *header)
{
    if (header->byte_order == __builtin_bswap32(JP_LOG_BYTE_ORDER))
        return "written on a machine of the other byte order";
    if (header->byte_order != JP_LOG_BYTE_ORDER)
        return "its header has no byte order: damaged";
    if (header->version < JP_LOG_VERSION_OLD ||
        header->version > JP_LOG_VERSION)
        return "written in another version of the format";
    if (header->header_size != JP_LOG_HEADER_SIZE)
        return "its header has another size: damaged";
    if (header->address_size != 8)
        return "its addresses are not of 8 bytes";
    return NULL;
}

void jr_header_close(struct jp_log_header *header)
{
    header->tree_name[sizeof header->tree_name - 1] = '\0';
    header->map_name[sizeof header->map_name - 1] = '\0';
    header->exe[sizeof header->exe - 1] = '\0';
    header->flags[sizeof header->flags - 1] = '\0';
    if (header->build_id_size > sizeof header->build_id)
        header->build_id_size = 0;
}

int jr_header_read(const char *path, struct jp_log_header *header)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);
    size_t got;

    if (fd < 0)
        return -1;
    got = jr_file_pread(fd, header, sizeof *header, 0);
    close(fd);
    if (got < sizeof *header || memcmp(header->magic, JP_LOG_MAGIC, 8) != 0 ||
        jr_header_refuse(header))
        return -1;
    jr_header_close(header);
    return 0;
}
