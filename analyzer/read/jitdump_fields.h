/* SPDX-License-Identifier: MIT
 *
 * Where the fields of a jitdump record are, and how they are read in either
 * byte order (jitdump-specification.txt, see jitdump.h).
 * Runs in: analyzer. */
#ifndef JR_JITDUMP_FIELDS_H
#define JR_JITDUMP_FIELDS_H

#include <stdint.h>
#include <string.h>

#define JR_RECORD_PREFIX 16U /* u32 type, u32 size, u64 time */
#define JR_RECORD_LOOK 64U   /* enough for every fixed field */
#define JR_LOAD_NAME 56U     /* u32 pid, tid; u64 vma, start, size, index */
#define JR_DEBUG_ENTRIES 32U /* u64 start, count */
#define JR_DEBUG_ENTRY 16U   /* u64 address, u32 line, discriminator */

static inline uint32_t jr_field32(const uint8_t *bytes, int swapped)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof value);
    return swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t jr_field64(const uint8_t *bytes, int swapped)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof value);
    return swapped ? __builtin_bswap64(value) : value;
}

#endif
