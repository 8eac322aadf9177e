/* SPDX-License-Identifier: MIT
 *
 * A part of a text that belongs to somebody else: any bytes.
 * Runs in: analyzer. */
#ifndef JR_SLICE_H
#define JR_SLICE_H

#include <stddef.h>

struct jr_slice {
    const char *text; /* not NUL-terminated; may be NULL when length is 0 */
    size_t length;
};

#endif
