/* SPDX-License-Identifier: MIT
 *
 * Tells whether a profile is of the program that the user named.
 * Runs in: analyzer. */
#include "match.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* The file that is behind the name of a program: here, or in PATH.  NULL:
 * there is none.  Allocated. */
static char *file_of(const char *app)
{
    const char *at = getenv("PATH");
    char *found = realpath(app, NULL);

    if (found || strchr(app, '/') || !at)
        return found;
    while (!found) {
        size_t length = strcspn(at, ":");
        char *path = jr_printf("%.*s/%s", (int)length, at, app);

        if (length > 0 && access(path, X_OK) == 0)
            found = realpath(path, NULL);
        free(path);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    return found;
}

static int is_program_file(const char *path, const char *exe)
{
    struct stat a, b;

    return strcmp(jr_base_name(path), jr_base_name(exe)) == 0 ||
           (stat(path, &a) == 0 && stat(exe, &b) == 0 &&
            jr_is_same_file(&a, &b));
}

int jr_same_program(const char *app, const char *exe)
{
    char *file;
    int same;

    if (is_program_file(app, exe))
        return 1;
    file = file_of(app);
    same = file && is_program_file(file, exe);
    free(file);
    return same;
}
