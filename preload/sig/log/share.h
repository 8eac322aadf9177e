/* SPDX-License-Identifier: MIT
 *
 * The shared area: a part of the log that is mapped in advance, for when no
 * file can be opened any more, after a seccomp filter, a chroot or a setuid.
 * Children made by fork have it mapped too.  A child that cannot make a log of
 * its own goes on in the area, without system calls: it takes a header and
 * chunks of its own there, and writes the lines of its map as records.
 * Runs in: handler, any thread. */
#ifndef JP_SHARE_H
#define JP_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* The size of an area: address space, of which is used what is needed. */
#define JP_SHARE_BYTES (4U << 20)

/* Maps an area of at most `most` bytes behind what is used of the log, which
 * is open as fd; a smaller one when the disk is nearly full.  Returns whether
 * there is an area now. */
int jp_share_make_sig(int fd, uint32_t most);

/* Closes the area at `offset` of a log if all its users have executed other
 * programs.  Returns the offset of what it has not used, if the log ends with
 * it; else 0, and has given that back to the file system.  The log is `length`
 * bytes long, and locked (annex.h). */
uint64_t jp_share_left_sig(int fd, uint64_t offset, uint64_t length);

/* Where in the log this process's area begins. */
uint64_t jp_share_start_sig(void);

/* Whether there is an area; and whether another process made it, which then
 * forked this one. */
int jp_share_is_there_sig(void);
int jp_share_is_inherited_sig(void);

/* The address of [offset, offset + size) of the log; NULL when it is not in the
 * area. */
uint8_t *jp_share_at_sig(uint64_t offset, uint32_t size);

/* Takes a piece of at least `bytes` and if possible `wanted` bytes, all zeros,
 * and sets *offset to where it is in the log.  When no fresh pages are left,
 * it is about the oldest piece that was given back, whose records are lost;
 * that is counted.  Returns its size in bytes, 0 when there is none. */
uint32_t jp_share_take_sig(uint32_t bytes, uint32_t wanted, uint64_t *offset);

/* Gives a piece back.  Its contents stay until it is taken again. */
void jp_share_give_sig(uint64_t offset);

/* Writes a line of the map (without its newline) as a record of this process's
 * run.  Returns 0 or -errno. */
int jp_share_text_sig(const char *line, size_t length);

/* Changes the number of processes that use the area: by -1 before an exec, by 1
 * when the exec has failed. */
void jp_share_count_sig(int more);

/* Called in a forked child: counts it as a user of the area, which is inherited
 * now.  had_run, run: whether the parent had a run, and its header's offset. */
void jp_share_forked_sig(int had_run, uint64_t run);

/* In a process with an inherited area: the offset, plus 1, of the header of the
 * run that this process branched off from; sets *forked_ns to when. */
uint64_t jp_share_base_sig(uint64_t *forked_ns);

/* Unmaps an inherited area: this process has a log of its own. */
void jp_share_drop_sig(void);

/* Called when the process ends.  Returns whether it was the last user, and the
 * log has from *used to *end what is of no use: threads that are still sampling
 * then find no space.  jp_share_return_sig gives it back to the file system. */
int jp_share_end_sig(uint64_t *used, uint64_t *end);
void jp_share_return_sig(uint64_t used);

/* Whether jp_share_end_sig was called: samples from then on may find no
 * space. */
int jp_share_has_ended_sig(void);

/* Whether an address is in the area. */
int jp_share_has_sig(uint64_t address);

#endif
