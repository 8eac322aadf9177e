/* SPDX-License-Identifier: MIT
 *
 * Whether a file that has one of jprof's names is jprof's: others plant files,
 * links and folders under every name that they can guess.
 * Runs in: handler, any thread. */
#ifndef JP_MINE_H
#define JP_MINE_H

#include <stdint.h>
#include <sys/stat.h>

/* Whether an open file may be added to, or taken away: a regular one of this
 * user's, which has no other name and which nobody else may write to.  Fills
 * *info.  Returns 0, or -EEXIST. */
int jp_mine_sig(int fd, struct stat *info);

/* Whether two are the same file. */
static inline int jp_mine_same_sig(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a file's owner, as told now and before, is still the one it was, or
 * this user: in a user namespace users have other numbers before it has its
 * map than behind that (user_namespaces(7)). */
int jp_mine_still_sig(uint32_t now, uint32_t before);

/* Removes what is at the path, if it is this file.  The folder is
 * held open meanwhile: who can rename folders in the path cannot have a file in
 * another one removed.  Returns 0 or -errno; -ESTALE: it is another file. */
int jp_mine_unlink_sig(const char *path, dev_t device, ino_t inode);

#endif
