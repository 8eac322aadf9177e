/* SPDX-License-Identifier: MIT
 *
 * Files that a fuzz target holds in memory, so that an input costs hardly any
 * call of the kernel.
 * Runs in: fuzz tests. */
#ifndef TEST_HELD_H
#define TEST_HELD_H

#include <stddef.h>
#include <stdint.h>

#define HELD_FOLDER "/held/" /* there is none of this name */
#define HELD_MAX 8

/* Has HELD_FOLDER's file `name`, of which there are at most HELD_MAX, hold just
 * these bytes.  It is there from then on; `name` must live as long. */
void held_put(const char *name, const uint8_t *data, size_t size);

/* Has the file this descriptor, so that /proc/self/fd/ has it for libraries,
 * whose calls nothing leads here. */
void held_number(const char *name, int fd);

/* Whether there are no other files than these for the code under test, so that
 * an input is tried in the same way everywhere. */
void held_alone(int are);

/* What one input gave back, the next takes: the kernel clears no pages anew. */
void held_keep_memory(void);

#endif
