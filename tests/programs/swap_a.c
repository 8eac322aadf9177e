/* SPDX-License-Identifier: MIT
 *
 * swap.h with a small frame.
 * Runs in: tests. */
#define ROOM 24
#include "swap.h"
