/* SPDX-License-Identifier: MIT
 *
 * Reads messages of Protocol Buffers
 * (protobuf.dev/programming-guides/encoding), field by field.
 * Runs in: analyzer. */
#ifndef JR_WIRE_H
#define JR_WIRE_H

#include <stdint.h>

/* What is left of a message, or of packed numbers. */
struct jr_wire {
    const uint8_t *at, *end;
    int bad; /* it is cut off, or no message */
};

struct jr_wire_field {
    uint32_t number;
    int is_bytes;
    uint64_t value;       /* of a number */
    struct jr_wire bytes; /* else */
};

/* Reads a number; returns 0 at the end, and where it is cut off. */
int jr_wire_number(struct jr_wire *wire, uint64_t *number);

/* Reads a field, likewise.  Fixed numbers are read as numbers. */
int jr_wire_next(struct jr_wire *wire, struct jr_wire_field *field);

#endif
