/* SPDX-License-Identifier: MIT
 *
 * The reserve: a part of the log that is mapped in advance, for when the file
 * can no longer be opened, after a seccomp filter, a chroot or a setuid.
 * Runs in: handler, any thread. */
#ifndef JP_RESERVE_H
#define JP_RESERVE_H

#include <stdint.h>

/* Maps the reserve if there is a log and no reserve yet: with JP_CIRCULAR the
 * ring, else an area of 4 MiB (share.h).  A failure has no effect. */
void jp_reserve_make_sig(void);

/* The address of [offset, offset + size) of the log in the mapped ring; NULL
 * when it is not inside it. */
uint8_t *jp_reserve_at_sig(uint64_t offset, uint32_t size);

/* Called when the process ends: gives back the area's unused space. */
void jp_reserve_end_sig(void);

/* Forgets the mapped ring.  Called in a forked child, whose memory it is not
 * in. */
void jp_reserve_reset_sig(void);

/* Whether an address is in the mapped ring. */
int jp_reserve_has_sig(uint64_t address);

#endif
