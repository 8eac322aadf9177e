/* SPDX-License-Identifier: MIT
 *
 * Whether a file that has one of jprof's names may be written to or removed:
 * others may plant files, links and folders under every name that they can
 * guess.
 * Runs in: handler, any thread. */
#ifndef JP_MINE_H
#define JP_MINE_H

#include <stdint.h>
#include <sys/stat.h>

/* Returns 0 if an open file may be written to or removed: it is a regular file
 * of this user, has no other name, and nobody else may write to it; else
 * -EEXIST.  Fills *info. */
int jp_may_write_sig(int fd, struct stat *info);

/* Whether both are of the same file. */
static inline int jp_file_is_same_sig(const struct stat *a,
                                      const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the owner `now` of a file is who it was when the file was made
 * (`before`), or this user: a user's number changes when a user namespace gets
 * its map (user_namespaces(7)). */
int jp_file_owner_is_same_sig(uint32_t now, uint32_t before);

/* Removes what is at the path, if it is the file with this device and inode.
 * The folder is held open meanwhile, so that somebody who renames folders of
 * the path cannot have a file in another folder removed.  Returns 0 or -errno:
 * -ESTALE when it is another file, -EBUSY while another thread removes one. */
int jp_file_unlink_sig(const char *path, dev_t device, ino_t inode);

#endif
