/* SPDX-License-Identifier: MIT
 *
 * A part of the log that is mapped in advance, for the time when the file can
 * no longer be opened: behind a seccomp filter, a chroot, a setuid.
 * Runs in: handler, any thread. */
#ifndef JP_RESERVE_H
#define JP_RESERVE_H

#include <stdint.h>

/* Maps the reserve, if there is none and there is a log: with JP_CIRCULAR the
 * ring, else an area of 4 MiB (share.h). */
void jp_reserve_make_sig(void);

/* Where [offset, offset + size) of the log is in memory, of a ring that was
 * mapped so; NULL: it is not. */
uint8_t *jp_reserve_at_sig(uint64_t offset, uint32_t size);

/* Forgets the ring, as a forked child does, whose memory it is not in. */
void jp_reserve_reset_sig(void);

/* Whether an address is in the ring that was mapped. */
int jp_reserve_has_sig(uint64_t address);

#endif
