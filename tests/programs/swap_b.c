/* SPDX-License-Identifier: MIT
 *
 * swap.h with a larger frame.
 * Runs in: tests. */
#define ROOM 88
#include "swap.h"
