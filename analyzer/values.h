/* SPDX-License-Identifier: MIT
 *
 * Values of options: numbers and times.
 * Runs in: analyzer. */
#ifndef JR_VALUES_H
#define JR_VALUES_H

#include <stdint.h>

#include "symbol/elf/symbols.h"

/* Reads the value of the option `name`.  Each returns 0, or -1 after saying on
 * stderr what is wrong with it. */

/* A decimal number, `least` or more. */
int jr_value_number(const char *name, const char *value, uint64_t least,
                    uint64_t *number);

/* "N" or "N,M", numbers above 0: *first is N, *second M or N. */
int jr_value_units(const char *name, const char *value, double *first,
                   double *second);

/* Likewise, or "@12" by another clock: adds bit 1 to *clocks then, else
 * bit 0. */
int jr_value_moment(const char *name, const char *value, uint64_t *ns,
                    unsigned *clocks);

/* Adds the folders of a list with colons, as PATH, or nothing for NULL; returns
 * what they point into, which the caller frees when they are not used any
 * more. */
char *jr_value_folders(const char *list, struct jr_debug_folders *folders);

#endif
