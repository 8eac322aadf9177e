/* SPDX-License-Identifier: MIT
 *
 * A module of the name service switch for lookups.c.
 * Runs in: tests. */
#include "nssmod.h"

NSSMOD(b)
