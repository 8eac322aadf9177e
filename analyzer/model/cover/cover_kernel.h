/* SPDX-License-Identifier: MIT
 *
 * The kernel's own threads in a process, which run no code of the program's.
 * Runs in: analyzer. */
#ifndef JR_COVER_KERNEL_H
#define JR_COVER_KERNEL_H

#include <stdint.h>

#include "cover.h"

struct jr_map;

/* Adds the names of a process's kernel threads.  All further names count as
 * one, "others". */
void jr_cover_kernel(struct jr_cover *cover, const struct jr_map *map);

/* The CPU time in ns of a process's kernel threads, counted_ns by its log's
 * header; less what they used before the profile was emptied. */
uint64_t jr_cover_kernel_ns(const struct jr_map *map, uint64_t counted_ns);

#endif
