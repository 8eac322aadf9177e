/* SPDX-License-Identifier: MIT
 *
 * The folder of a profile.  It is held open, and whatever is in it is reached
 * through that descriptor: who can rename the folder, or put another in its
 * place, changes nothing.  Only what is the user's own is read or written.
 * Runs in: launcher. */
#ifndef JL_FOLDER_H
#define JL_FOLDER_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct jl_folder {
    int fd;
    char *shown;      /* path as it is printed for the user */
    char *path;       /* absolute, without links, when it was made */
    char *given;      /* the same for the program: another path where
                               other users could rename a folder above, or
                               have put another in its place already */
    int is_elsewhere; /* given is not path, and leads to another folder
                               when the launcher's pid is another process's */
};

/* Makes the new folder `name` with mode 0700, and what is missing above it.
 * With may_be_there an empty one of the user's own does as well, and gets that
 * mode; what is refused keeps its own.  Anything else is said and ends the
 * launcher with status 2. */
void jl_folder_make(struct jl_folder *folder, const char *name,
                    int may_be_there);

/* The regular file `name`, opened with `flags` (O_RDONLY...); it is the
 * user's own and has at most `links` names.  Never waits, follows no link.
 * Returns a descriptor and fills *info, or -1 with errno. */
int jl_folder_open(const struct jl_folder *folder, const char *name, int flags,
                   nlink_t links, struct stat *info);

/* Whether anything has this name. */
int jl_folder_has(const struct jl_folder *folder, const char *name);

/* A new file as above, of any name, which is put into *name (allocated). */
int jl_folder_temporary(const struct jl_folder *folder, char **name);

/* The names in it that start with `prefix`, sorted; the caller frees each and
 * the list.  *count: how many. */
char **jl_folder_list(const struct jl_folder *folder, const char *prefix,
                      size_t *count);
void jl_folder_free_list(char **names, size_t count);

/* Removes the folder where it still is, if it is empty. */
void jl_folder_drop(const struct jl_folder *folder);

#endif
