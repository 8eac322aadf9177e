/* SPDX-License-Identifier: MIT
 *
 * Numbers of scripts' functions, and the map's lines that name them.  A line is
 * written before the first sample with the number is, so a killed process has
 * left all names.
 * Runs in: handler, any thread. */
#ifndef JP_SCRIPT_NAMES_H
#define JP_SCRIPT_NAMES_H

#include <stdint.h>

struct jp_script;

/* Makes room for the numbers.  Returns 0 or -ENOMEM.  A forked child begins
 * without numbers, as its map has no lines yet. */
int jp_script_names_init_sig(void);

/* The number of a function, by its object's address and a key of what the
 * object contains (both not 0); 0: it has none yet.  Sets *full if there are no
 * more numbers. */
uint32_t jp_script_number_sig(uint64_t object, uint64_t key, int *full);

/* Gives script->fresh a number and writes its line, or the line of a further
 * part of its table of lines. */
void jp_script_put_name_sig(struct jp_script *script);

#endif
