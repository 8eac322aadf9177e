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

/* The list; all zeros: empty. */
struct jp_freelist {
    /* The index of the first entry + 1 in the low half; in the upper half a
     * count of changes, so that a head seen again is not mistaken for the same
     * list. */
    _Atomic uint64_t head;
    _Atomic uint32_t next[JP_FREELIST_MAX];
};

/* Takes an entry off the list.  Returns its index, JP_FREELIST_NONE when the
 * list is empty. */
uint32_t jp_freelist_pop_sig(struct jp_freelist *list);

/* Puts entry `index` (below JP_FREELIST_MAX) on the list. */
void jp_freelist_push_sig(struct jp_freelist *list, uint32_t index);

/* Takes the next entry of the table that was never used, and counts it in
 * *used.  Returns its index, JP_FREELIST_NONE at the end of the table. */
uint32_t jp_freelist_extend_sig(_Atomic uint32_t *used);

#endif
