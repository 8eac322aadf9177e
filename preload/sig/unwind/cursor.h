/* SPDX-License-Identifier: MIT
 *
 * Reading numbers from bytes that nobody vouches for: every read is checked,
 * and one beyond the end makes the cursor bad for good.
 * Runs in: handler, any thread. */
#ifndef JP_CURSOR_H
#define JP_CURSOR_H

#include <stdint.h>
#include <string.h>

struct jp_cursor {
    const uint8_t *at, *end;
    int bad;
};

/* Reads `size` bytes, 1 to 8, as a little-endian number. */
static inline uint64_t jp_cursor_fixed_sig(struct jp_cursor *c, unsigned size)
{
    uint64_t value = 0;
    if (c->bad || (uint64_t)(c->end - c->at) < size) {
        c->bad = 1;
        return 0;
    }
    memcpy(&value, c->at, size);
    c->at += size;
    return value;
}

static inline int64_t jp_cursor_signed_sig(struct jp_cursor *c, unsigned size)
{
    const unsigned shift = 64 - size * 8;
    return (int64_t)(jp_cursor_fixed_sig(c, size) << shift) >> shift;
}

/* LEB128 (DWARF 5, 7.6); bits beyond 64 are dropped.  Sets *last to the last
 * byte and *shift to the number of bits that came. */
static inline uint64_t jp_cursor_leb_sig(struct jp_cursor *c, uint64_t *last,
                                         unsigned *shift)
{
    uint64_t value = 0;
    *shift = 0;
    do {
        *last = jp_cursor_fixed_sig(c, 1);
        if (*shift < 64)
            value |= (*last & 0x7f) << *shift;
        *shift += 7;
    } while ((*last & 0x80) != 0 && !c->bad);
    return value;
}

static inline uint64_t jp_cursor_uleb_sig(struct jp_cursor *c)
{
    uint64_t last;
    unsigned shift;
    return jp_cursor_leb_sig(c, &last, &shift);
}

static inline int64_t jp_cursor_sleb_sig(struct jp_cursor *c)
{
    uint64_t last;
    unsigned shift;
    uint64_t value = jp_cursor_leb_sig(c, &last, &shift);
    if (shift < 64 && (last & 0x40) != 0)
        value |= UINT64_MAX << shift;
    return (int64_t)value;
}

static inline void jp_cursor_skip_sig(struct jp_cursor *c, uint64_t size)
{
    if (c->bad || (uint64_t)(c->end - c->at) < size)
        c->bad = 1;
    else
        c->at += size;
}

/* DW_EH_PE_* (Linux Standard Base Core 5.0, 10.5.1): a pointer whose first
 * byte has the address `place`; data_base is what datarel counts from. */
uint64_t jp_cursor_encoded_sig(struct jp_cursor *c, uint8_t encoding,
                               uint64_t place, uint64_t data_base);

#endif
