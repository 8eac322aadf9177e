/* SPDX-License-Identifier: MIT
 *
 * The appended area: space behind the end of another process's log, for a
 * program that is executed where no path leads to the profile's folder.  The
 * log's descriptor goes from program to program, a file alone, by which nothing
 * else can be reached; each program has a run of its own in it (share.h).
 * Runs in: handler, any thread, vfork children. */
#ifndef JP_ANNEX_H
#define JP_ANNEX_H

#include <stdint.h>

struct jp_storage;

/* The storage of a process whose run is in an appended
 * area. */
extern const struct jp_storage jp_storage_appended;

/* Keeps this process's log open from here on, by a high descriptor with
 * O_CLOEXEC, for the programs that it executes; it is not opened by its path
 * any more, so the process goes on in the shared area or the ring.  Sets
 * *device and *inode to what identifies the log.  Returns the descriptor; 0:
 * none, as there is no log, or its file system cannot reserve space.  Called by
 * the constructor. */
int jp_appended_keep_sig(uint64_t *device, uint64_t *inode);

/* Takes over such a descriptor, which the program before an exec has passed.
 * Returns 0, and leaves the descriptor alone, if another file is open there, or
 * one that this user may not write to.  Called by the constructor. */
int jp_appended_take_sig(int fd, uint64_t device, uint64_t inode);

/* Whether it was taken over, so that this process's run is to be in an
 * appended area. */
int jp_appended_is_handed_sig(void);

/* The descriptor; 0: none. */
int jp_appended_fd_sig(void);

/* on: passes the descriptor to the program that will be executed; else keeps it
 * again.  Where the program has closed it, as many do between fork and exec, it
 * is first opened anew from the parent.  Returns 0 where there is none.  Writes
 * to no memory but its own stack. */
int jp_appended_pass_sig(int on);

/* Makes a shared area behind the log's end.  Returns 0, -ENOENT where the
 * descriptor is gone, -ENOSPC where the disk is full or the log was cut, and
 * -EAGAIN while another process makes its own. */
int jp_appended_make_sig(void);

#endif
