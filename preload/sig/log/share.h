/* SPDX-License-Identifier: MIT
 *
 * A part of the log that is mapped in advance, for the time when no file can
 * be opened any more: behind a seccomp filter, a chroot, a setuid.  Children
 * made by fork have it too, and whoever finds that it cannot make a log of its
 * own goes on in here, without a system call: with a header of its own, chunks
 * of its own, and the lines of its map as records.
 * Runs in: handler, any thread. */
#ifndef JP_SHARE_H
#define JP_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* Maps an area of at most `most` bytes behind what has been given out of the
 * log, which is open as fd; less where the disk has less.  Returns whether
 * there is one now. */
int jp_share_make_sig(int fd, uint32_t most);

/* Whether there is an area, and whether it is another process's, which made
 * it before it forked this one. */
int jp_share_is_there_sig(void);
int jp_share_is_inherited_sig(void);

/* Where [offset, offset + size) of the log is in memory; NULL: not in the
 * area. */
uint8_t *jp_share_at_sig(uint64_t offset, uint32_t size);

/* Takes a piece that holds `bytes`, better `wanted` (a chunk's sizes), and is
 * all zeros.  When all have been taken, it is one that was given back, about
 * the oldest: what was in it is gone, which is counted.  Returns its size, 0
 * when there is none. */
uint32_t jp_share_take_sig(uint32_t bytes, uint32_t wanted, uint64_t *offset);

/* Gives a piece back: what is in it stays until somebody takes it again. */
void jp_share_give_sig(uint64_t offset);

/* Writes a line of the map (without its newline) as a record of this process's
 * run.  Returns 0 or -errno. */
int jp_share_text_sig(const char *line, size_t length);

/* Counts who may use the area: `more` is -1 before an exec, 1 when that has
 * failed. */
void jp_share_count_sig(int more);

/* In a forked child: the area is inherited, and has one more to use it; its
 * parent's run began at `run`, if it had one. */
void jp_share_forked_sig(int had_run, uint64_t run);

/* Of an inherited area: the header of the run that this one branched off from
 * (its offset in the file, plus 1), and when. */
uint64_t jp_share_base_sig(uint64_t *forked_ns);

/* Lets go of an inherited area: there is a log of its own. */
void jp_share_drop_sig(void);

/* The process ends.  The last one gives back the space that nobody has used;
 * other threads may still be at work, and find none then. */
void jp_share_end_sig(void);

/* Whether it has: what is sampled from then on may find no place. */
int jp_share_has_ended_sig(void);

/* Whether an address is in the area. */
int jp_share_has_sig(uint64_t address);

#endif
