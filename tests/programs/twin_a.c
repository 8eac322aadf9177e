/* SPDX-License-Identifier: MIT
 *
 * One of the two libraries that twins.c loads in turn.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "twin.h"

TWIN(a)
