/* SPDX-License-Identifier: MIT
 *
 * Reading a folder of /proc whose entries are numbers.
 * Runs in: handler, any thread. */
#include "dirent.h"

#include <sys/syscall.h>

#include "sys.h"
#include "text.h"

/* struct linux_dirent64, getdents64(2). */
struct entry {
    uint64_t inode, offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

long jp_dirent_part_sig(int fd, jp_dirent_each_sig *each, void *data)
{
    uint64_t entries[64];
    const char *bytes = (const char *)entries;
    const long got =
        jp_sys_sig(SYS_getdents64, fd, (long)entries, sizeof(entries), 0, 0);
    long next = 0;
    for (long at = 0; at < got;) {
        const struct entry *entry = (const struct entry *)(bytes + at);
        const char *digits = entry->name;
        uint64_t number = jp_text_number_sig(&digits, bytes + got, 10);
        if (digits != entry->name)
            each((uint32_t)number, data);
        next = (long)entry->offset;
        at += entry->length;
    }
    return next;
}

void jp_dirent_numbers_sig(int fd, jp_dirent_each_sig *each, void *data)
{
    while (jp_dirent_part_sig(fd, each, data) != 0)
        continue;
}
