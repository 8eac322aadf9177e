/* SPDX-License-Identifier: MIT
 *
 * Who can change what a path leads to: root, the user, or others too.
 * Runs in: analyzer, launcher. */
#ifndef JR_OURS_H
#define JR_OURS_H

#include <sys/stat.h>
#include <sys/types.h>

/* The user who became root by sudo; 0: nobody did. */
uid_t jr_sudo_user(void);

/* Whether the owner is root, the user or `friend`. */
int jr_is_owner_ours(const struct stat *info, uid_t friend);

/* Whether root, the user and `friend` are the only ones who can change the file
 * that *info describes. In a folder with the sticky bit others can add names
 * but not touch ours. A group that only the user is in, as distributions make
 * for each user, counts as the user. */
int jr_is_ours(const struct stat *info, uid_t friend);

/* Opens the folder `path` (O_PATH), going to it from folder to folder: a link
 * on the way is followed only if it is ours and nobody else can put another in
 * its place.  Returns a descriptor, or -1 with errno, ELOOP for such a link. */
int jr_folder_open(const char *path);

#endif
