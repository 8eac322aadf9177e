/* SPDX-License-Identifier: MIT
 *
 * Numbers as the bytes of DWARF have them.
 * Runs in: analyzer. */
#ifndef JR_BYTES_H
#define JR_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads an unsigned LEB128 number; returns where it ends, NULL: nowhere. */
static inline const uint8_t *jr_bytes_leb(const uint8_t *at, const uint8_t *end,
                                          uint64_t *value)
{
    unsigned shift = 0;

    *value = 0;
    for (; at < end; at++, shift += 7) {
        if (shift < 64)
            *value |= (uint64_t)(*at & 0x7f) << shift;
        if (!(*at & 0x80))
            return at + 1;
    }
    return NULL;
}

/* A number of up to 8 bytes; files are of machines with the lowest byte first,
 * as this one. */
static inline uint64_t jr_bytes_number(const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, at, size);
    return value;
}

#endif
