/* SPDX-License-Identifier: MIT
 *
 * Messages of Protocol Buffers (protobuf.dev/programming-guides/encoding),
 * made in memory.
 * Runs in: analyzer. */
#ifndef JR_PROTO_H
#define JR_PROTO_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of a message; all zero is an empty one.  The caller frees
 * `data`. */
struct jr_proto {
    uint8_t *data;
    size_t size, room;
};

/* A number alone, as in packed fields. */
void jr_proto_varint(struct jr_proto *proto, uint64_t number);

/* A field with a number; left out when it is 0, which readers then take it
 * for. */
void jr_proto_uint(struct jr_proto *proto, unsigned field, uint64_t number);

/* A field that is the message *inner, or packed numbers; *inner is empty
 * then. */
void jr_proto_message(struct jr_proto *proto, unsigned field,
                      struct jr_proto *inner);

/* The fields of another message of the same type, after those of *proto. */
void jr_proto_append(struct jr_proto *proto, const struct jr_proto *fields);

#endif
