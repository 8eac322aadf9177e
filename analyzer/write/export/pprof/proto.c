/* SPDX-License-Identifier: MIT
 *
 * The wire format of Protocol Buffers, as far as pprof needs it.
 * Runs in: analyzer. */
#include "proto.h"

#include <string.h>

#include "base/mem.h"

/* Wire types, the low three bits of a field's tag. */
#define VARINT 0U
#define BYTES 2U
#define VARINT_MAX 10 /* bytes of a number of 64 bits */

static size_t encode(uint8_t *into, uint64_t number)
{
    size_t size = 0;

    for (; number >= 0x80; number >>= 7)
        into[size++] = (uint8_t)(number | 0x80);
    into[size++] = (uint8_t)number;
    return size;
}

static uint8_t *make_room(struct jr_proto *proto, size_t size)
{
    size_t room = proto->room ? proto->room : 256;

    while (room - proto->size < size)
        room *= 2;
    if (room != proto->room) {
        proto->data = jr_realloc(proto->data, room, 1);
        proto->room = room;
    }
    return proto->data + proto->size;
}

void jr_proto_varint(struct jr_proto *proto, uint64_t number)
{
    proto->size += encode(make_room(proto, VARINT_MAX), number);
}

void jr_proto_uint(struct jr_proto *proto, unsigned field, uint64_t number)
{
    if (number == 0)
        return;
    jr_proto_varint(proto, field << 3 | VARINT);
    jr_proto_varint(proto, number);
}

void jr_proto_append(struct jr_proto *proto, const struct jr_proto *fields)
{
    if (fields->size > 0)
        memcpy(make_room(proto, fields->size), fields->data, fields->size);
    proto->size += fields->size;
}

void jr_proto_message(struct jr_proto *proto, unsigned field,
                      struct jr_proto *inner)
{
    jr_proto_varint(proto, field << 3 | BYTES);
    jr_proto_varint(proto, inner->size);
    jr_proto_append(proto, inner);
    inner->size = 0;
}
