/* SPDX-License-Identifier: MIT
 *
 * Heads of tar files.  Fields and their places are those of POSIX.1-2017, pax,
 * "ustar Interchange Format".
 * Runs in: analyzer. */
#include "tar.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The head of a file; the rest of the block is zeros. */
struct head {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12];
    char checksum[8], type, link[100], magic[6], version[2];
    char owner[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

_Static_assert(sizeof(struct head) == JR_TAR_BLOCK, "a head is a block");

/* The sum of all bytes, those of the checksum itself taken as blanks. */
static unsigned sum_of(const struct head *head)
{
    const uint8_t *bytes = (const uint8_t *)head;
    const size_t at = offsetof(struct head, checksum);
    unsigned sum = 0;

    for (size_t i = 0; i < sizeof *head; i++)
        sum += i >= at && i < at + sizeof head->checksum ? ' ' : bytes[i];
    return sum;
}

static void put_octal(char *field, size_t size, uint64_t number)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%0*" PRIo64, (int)size - 1, number);
    memcpy(field, digits, size);
}

void jr_tar_put(const struct jr_tar_file *file, uint8_t block[JR_TAR_BLOCK])
{
    struct head head = {.type = '0', .magic = "ustar", .version = {'0', '0'}};

    memcpy(head.name, file->name, strnlen(file->name, sizeof head.name));
    put_octal(head.mode, sizeof head.mode, 0600);
    put_octal(head.uid, sizeof head.uid, 0);
    put_octal(head.gid, sizeof head.gid, 0);
    put_octal(head.size, sizeof head.size, file->size);
    put_octal(head.mtime, sizeof head.mtime, file->mtime);
    snprintf(head.checksum, sizeof head.checksum, "%06o", sum_of(&head));
    head.checksum[7] = ' ';
    memcpy(block, &head, sizeof head);
}

/* Octal digits, which blanks may precede and a blank or NUL ends. */
static int take_octal(const char *field, size_t size, uint64_t *number)
{
    size_t at = 0, first;

    *number = 0;
    while (at < size && field[at] == ' ')
        at++;
    for (first = at; at < size && field[at] >= '0' && field[at] <= '7'; at++)
        *number = *number * 8 + (uint64_t)(field[at] - '0');
    return at > first && (at == size || field[at] == ' ' || field[at] == '\0')
               ? 0
               : -1;
}

int jr_tar_take(const uint8_t block[JR_TAR_BLOCK], struct jr_tar_file *file,
                const char **why)
{
    static const uint8_t zeros[JR_TAR_BLOCK];
    struct head head;
    uint64_t sum;

    if (memcmp(block, zeros, sizeof zeros) == 0)
        return 1;
    memcpy(&head, block, sizeof head);
    *why = "no head of a file";
    if (memcmp(head.magic, "ustar", 5) != 0 ||
        take_octal(head.checksum, sizeof head.checksum, &sum) != 0 ||
        sum != sum_of(&head))
        return -1;
    *why = "a file that is no regular one";
    if (head.type != '0' && head.type != '\0')
        return -1;
    *why = "a file's head is damaged";
    memcpy(file->name, head.name, sizeof head.name);
    file->name[sizeof head.name] = '\0';
    if (head.prefix[0] || !file->name[0] ||
        take_octal(head.size, sizeof head.size, &file->size) != 0 ||
        take_octal(head.mtime, sizeof head.mtime, &file->mtime) != 0)
        return -1;
    return 0;
}
