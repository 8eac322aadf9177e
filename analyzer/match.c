/* SPDX-License-Identifier: MIT
 *
 * Tells whether a profile is of the program that the user named.
 * Runs in: analyzer. */
#include <string.h>
#include <sys/stat.h>

#include "load.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int jr_same_program(const char *app, const char *exe)
{
    struct stat a, b;

    if (strcmp(base_name(app), base_name(exe)) == 0)
        return 1;
    return stat(app, &a) == 0 && stat(exe, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}
