/* SPDX-License-Identifier: MIT
 *
 * A part of the log that is mapped in advance, for the time when the file can
 * no longer be opened: behind a seccomp filter, a chroot, a setuid.
 * Runs in: handler, any thread. */
#ifndef JP_RESERVE_H
#define JP_RESERVE_H

#include <stdint.h>

/* Maps the reserve, if there is none and there is a log: with JP_CIRCULAR the
 * ring, else 4 MiB behind what has been given out (less where the disk has
 * less).  Its chunks are used when no others are to be had, over and over: the
 * last ones stay. */
void jp_reserve_make_sig(void);

/* Where [offset, offset + size) of the log is in memory; NULL: not in the
 * reserve. */
uint8_t *jp_reserve_at_sig(uint64_t offset, uint32_t size);

/* Bytes of a chunk, 0 when there is no reserve to take chunks of; how many. */
uint32_t jp_reserve_piece_sig(void);
uint32_t jp_reserve_count_sig(void);

/* The offset of the next chunk; *turn counts them. */
uint64_t jp_reserve_next_sig(uint64_t *turn);

/* Forgets the reserve, as a forked child does, whose memory it is not in. */
void jp_reserve_reset_sig(void);

#endif
