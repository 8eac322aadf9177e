/* SPDX-License-Identifier: MIT
 *
 * A list of free table entries that threads and handlers may use at once
 * without a lock.
 * Runs in: handler, any thread. */
#ifndef JP_FREELIST_H
#define JP_FREELIST_H

#include <stdatomic.h>
#include <stdint.h>

#define JP_FREELIST_MAX 16384U
#define JP_FREELIST_NONE UINT32_MAX

/* All zeros is the empty list. */
struct jp_freelist {
    /* The first entry + 1 in the low half; above it a count of changes, so
     * that a head seen before is not taken for the same list. */
    _Atomic uint64_t head;
    _Atomic uint32_t next[JP_FREELIST_MAX];
};

/* Takes an entry off the list; JP_FREELIST_NONE when it is empty. */
uint32_t jp_freelist_pop_sig(struct jp_freelist *list);

/* Puts entry `index` (below JP_FREELIST_MAX) on the list. */
void jp_freelist_push_sig(struct jp_freelist *list, uint32_t index);

/* Takes the next entry that was never used, of those counted by *used; or
 * JP_FREELIST_NONE at the end of the table. */
uint32_t jp_freelist_extend_sig(_Atomic uint32_t *used);

#endif
