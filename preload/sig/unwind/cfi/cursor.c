/* SPDX-License-Identifier: MIT
 *
 * Reading encoded pointers.
 * Runs in: handler, any thread. */
#include "cursor.h"

/* What a pointer counts from: bits 4 to 6 of its encoding. */
#define PE_PCREL 0x10U
#define PE_DATAREL 0x30U

uint64_t jp_cursor_encoded_sig(struct jp_cursor *c, uint8_t encoding,
                               uint64_t place, uint64_t data_base)
{
    /* Sizes of the fixed formats; 0: LEB128 or none. */
    static const uint8_t sizes[16] = {8, 0, 2, 4, 8, 0, 0, 0,
                                      8, 0, 2, 4, 8, 0, 0, 0};
    const unsigned format = encoding & 15, from = encoding & 0x70;
    uint64_t value;
    if (format == 1)
        value = jp_cursor_uleb_sig(c);
    else if (format == 9)
        value = (uint64_t)jp_cursor_sleb_sig(c);
    else if (sizes[format] == 0)
        c->bad = 1, value = 0;
    else if ((format & 8) != 0)
        value = (uint64_t)jp_cursor_signed_sig(c, sizes[format]);
    else
        value = jp_cursor_fixed_sig(c, sizes[format]);
    if (from == PE_PCREL)
        value += place;
    else if (from == PE_DATAREL)
        value += data_base;
    else if (from != 0)
        c->bad = 1;
    return value;
}
