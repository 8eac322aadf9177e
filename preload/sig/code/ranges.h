/* SPDX-License-Identifier: MIT
 *
 * A table of executable ranges, in the order of addresses.  One thread at a
 * time fills a table; others may read it meanwhile, and then find wrong ranges,
 * but no half of one word.
 * Runs in: handler, any thread. */
#ifndef JP_RANGES_H
#define JP_RANGES_H

#include <stdatomic.h>
#include <stdint.h>

#define JP_RANGES_MAX 8192U

/* An executable range, and the part of a file that is mapped there. */
struct jp_maps_range {
    uint64_t start, end, offset, inode; /* inode 0: no file */
    uint64_t device;
    uint64_t base; /* where the file's offset 0 is mapped; 0: unknown */
};

struct jp_ranges {
    _Atomic uint32_t count;
    _Atomic uint32_t anonymous; /* ranges without a file, such as JIT code: at
                                   least one while this is not 0 */
    _Atomic uint64_t low, high; /* all of these are in [low, high) */
    struct jp_maps_range ranges[JP_RANGES_MAX];
};

/* Copies a range from or into a table. */
void jp_ranges_copy_sig(struct jp_maps_range *to,
                        const struct jp_maps_range *from);

/* Whether two ranges are at the same place and of the same part of a file. */
int jp_ranges_same_sig(const struct jp_maps_range *a,
                       const struct jp_maps_range *b);

/* Whether a range is code without a file: not the vdso, which has a base, nor
 * the kernel's page for vsyscalls, in the upper half of addresses. */
int jp_ranges_is_anonymous_sig(const struct jp_maps_range *range);

/* The range in the table around an address; the one with an index, from 0 on;
 * NULL: there is none. */
const struct jp_maps_range *jp_ranges_find_sig(const struct jp_ranges *in,
                                               uint64_t address);
const struct jp_maps_range *jp_ranges_at_sig(const struct jp_ranges *in,
                                             uint64_t index);

/* Adds a range behind the table's last one.  Returns 0 when the table is
 * full. */
int jp_ranges_add_sig(struct jp_ranges *in, const struct jp_maps_range *range);

/* Fills a table with what `old` has and a range without a file, in place of
 * what that overlaps.  What of an older range lies outside stays.  Returns 0
 * when it may not have room. */
int jp_ranges_insert_sig(struct jp_ranges *fresh, const struct jp_ranges *old,
                         const struct jp_maps_range *range);

#endif
