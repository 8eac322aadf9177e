/* SPDX-License-Identifier: MIT
 *
 * Reading numbers from untrusted bytes: every read is checked, and one beyond
 * the end sets `bad` for good and returns 0.
 * Runs in: handler, any thread. */
#ifndef JP_CURSOR_H
#define JP_CURSOR_H

#include <stdint.h>
#include <string.h>

struct jp_cursor {
    const uint8_t *at, *end;
    int bad;
};

/* Read `size` bytes, 1 to 8, as an unsigned or signed little-endian number. */
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

/* Reads a LEB128 number (DWARF 5, 7.6); bits beyond 64 are dropped.  Sets *last
 * to its last byte and *shift to the number of its bits.  The next two read
 * unsigned and signed ones. */
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

/* Skips bytes. */
static inline void jp_cursor_skip_sig(struct jp_cursor *c, uint64_t size)
{
    if (c->bad || (uint64_t)(c->end - c->at) < size)
        c->bad = 1;
    else
        c->at += size;
}

/* Reads a pointer encoded as DW_EH_PE_* (Linux Standard Base Core 5.0, 10.5.1).
 * place: the address of its first byte; data_base: what datarel pointers count
 * from. */
uint64_t jp_cursor_encoded_sig(struct jp_cursor *c, uint8_t encoding,
                               uint64_t place, uint64_t data_base);

#endif
