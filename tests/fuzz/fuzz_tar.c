/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the heads of files in an archive.  What is taken can be put and
 * taken again; the names that are let in lead nowhere else.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "archive/member.h"
#include "archive/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A checksum that is right, so that what is behind it is tried, too. */
static void mend(uint8_t block[JR_TAR_BLOCK])
{
    unsigned sum = 0;

    memset(block + 148, ' ', 8);
    for (size_t i = 0; i < JR_TAR_BLOCK; i++)
        sum += block[i];
    for (int i = 5; i >= 0; i--, sum /= 8)
        block[148 + i] = (uint8_t)('0' + sum % 8);
    memcpy(block + 257, "ustar", 5);
}

static void take(const uint8_t block[JR_TAR_BLOCK])
{
    struct jr_tar_file file, again;
    uint8_t put[JR_TAR_BLOCK];
    const char *why;

    if (jr_tar_take(block, &file, &why) != 0)
        return;
    if (jr_member_is_known(file.name) &&
        (strchr(file.name, '/') || file.name[0] == '.' || !file.name[0]))
        abort();
    if (file.size > JR_TAR_SIZE_MAX || file.mtime > JR_TAR_SIZE_MAX)
        return;
    jr_tar_put(&file, put);
    if (jr_tar_take(put, &again, &why) != 0 || again.size != file.size ||
        again.mtime != file.mtime || strcmp(again.name, file.name) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t block[JR_TAR_BLOCK] = {0};

    memcpy(block, data, size < sizeof block ? size : sizeof block);
    take(block);
    mend(block);
    take(block);
    return 0;
}
