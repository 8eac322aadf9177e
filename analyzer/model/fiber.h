/* SPDX-License-Identifier: MIT
 *
 * Functions with which a fiber begins whose stack is a part of its thread's.
 * Runs in: analyzer. */
#ifndef JR_FIBER_H
#define JR_FIBER_H

#include "symbol/names/frame.h"

/* Whether a fiber begins with this function: its callers on the stack are of
 * whatever used that part of the stack last. */
int jr_fiber_begins(const struct jr_frame *frame);

#endif
