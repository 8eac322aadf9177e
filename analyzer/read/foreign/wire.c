/* SPDX-License-Identifier: MIT
 *
 * Fields of Protocol Buffers.
 * Runs in: analyzer. */
#include "wire.h"

#include <string.h>

#define VARINT 0U
#define FIXED64 1U
#define BYTES 2U
#define FIXED32 5U
#define SHIFT_MAX 63

int jr_wire_number(struct jr_wire *wire, uint64_t *number)
{
    uint64_t value = 0;

    if (wire->at == wire->end)
        return 0;
    for (unsigned shift = 0; shift <= SHIFT_MAX && wire->at < wire->end;
         shift += 7) {
        const uint8_t byte = *wire->at++;

        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *number = value;
            return 1;
        }
    }
    wire->bad = 1;
    wire->at = wire->end;
    return 0;
}

/* A number of `size` bytes, the lowest first. */
static int take_fixed(struct jr_wire *wire, size_t size, uint64_t *number)
{
    *number = 0;
    if ((size_t)(wire->end - wire->at) < size)
        return 0;
    for (size_t i = 0; i < size; i++)
        *number |= (uint64_t)wire->at[i] << 8 * i;
    wire->at += size;
    return 1;
}

static int take_value(struct jr_wire *wire, unsigned type,
                      struct jr_wire_field *field)
{
    if (type == FIXED64)
        return take_fixed(wire, 8, &field->value);
    if (type == FIXED32)
        return take_fixed(wire, 4, &field->value);
    if (type != VARINT && type != BYTES)
        return 0;
    if (!jr_wire_number(wire, &field->value))
        return 0;
    if (type == VARINT)
        return 1;
    if (field->value > (uint64_t)(wire->end - wire->at))
        return 0;
    field->is_bytes = 1;
    field->bytes = (struct jr_wire){wire->at, wire->at + field->value, 0};
    wire->at += field->value;
    return 1;
}

int jr_wire_next(struct jr_wire *wire, struct jr_wire_field *field)
{
    uint64_t tag;

    memset(field, 0, sizeof *field);
    if (!jr_wire_number(wire, &tag))
        return 0;
    field->number = tag >> 3 > UINT32_MAX ? 0 : (uint32_t)(tag >> 3);
    if (take_value(wire, tag & 7, field))
        return 1;
    wire->bad = 1;
    wire->at = wire->end;
    return 0;
}
