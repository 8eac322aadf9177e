/* SPDX-License-Identifier: MIT
 *
 * Finds the parts of jprof, and programs in PATH.
 * Runs in: launcher. */
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "jp_machine.h"
#include "launcher/base/say.h"

static int is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* The folder of the launcher, allocated, without a slash at its end. */
static char *home(void)
{
    char *self = realpath("/proc/self/exe", NULL);

    if (self)
        *strrchr(self, '/') = '\0';
    else
        jl_fail(JR_FAILED, "cannot find myself: /proc/self/exe: %s",
                strerror(errno));
    return self;
}

static char *need(char *path)
{
    if (!is_file(path))
        jl_fail(JR_FAILED, "%s is missing; build it with make", path);
    return path;
}

char *jl_find_reporter(void)
{
    char *folder = home();
    char *path = jr_printf("%s/jprof-report", folder);

    free(folder);
    return need(path);
}

#ifndef JP_LIB_PLACE
#define JP_LIB_PLACE "lib" /* the Makefile defines it, of LIBDIR */
#endif

/* What the library's folder is in: where `make install` put it, and, for a
 * launcher that came to its place otherwise, where distributions have it.
 * Those without a slash at their start are beside the launcher's folder. */
static const char *const lib_folders[] = {JP_LIB_PLACE, JP_MACHINE_LIB, "lib64",
                                          "lib"};

char *jl_find_library(void)
{
    char *folder = home();
    const char *slash = strrchr(folder, '/');
    const int above = slash ? (int)(slash - folder) : 0;
    char *path = jr_printf("%s/libjprof.so", folder);

    for (size_t i = 0;
         !is_file(path) && i < sizeof lib_folders / sizeof *lib_folders; i++) {
        const char *place = lib_folders[i];

        free(path);
        path = *place == '/' ? jr_printf("%s/jprof/libjprof.so", place)
                             : jr_printf("%.*s/%s/jprof/libjprof.so", above,
                                         folder, place);
    }
    if (!is_file(path))
        jl_fail(JR_FAILED,
                "libjprof.so is missing, in %s and in %s/jprof; build it with "
                "make, or install it",
                folder, lib_folders[0]);
    free(folder);
    return path;
}

char *jl_find_in(const char *folders, const char *name)
{
    const char *at = folders;
    char *denied = NULL;

    if (strchr(name, '/'))
        return jr_strdup(name);
    if (!at)
        at = "/usr/bin:/bin";
    for (;;) {
        size_t length = strcspn(at, ":");
        char *path = length ? jr_printf("%.*s/%s", (int)length, at, name)
                            : jr_printf("./%s", name);

        if (is_file(path) && access(path, X_OK) == 0) {
            free(denied);
            return path;
        }
        if (!denied && is_file(path))
            denied = path;
        else
            free(path);
        if (at[length] == '\0')
            return denied;
        at += length + 1;
    }
}

char *jl_find_command(const char *name)
{
    return jl_find_in(getenv("PATH"), name);
}

char *jl_find_program(const char *folders, const char *name)
{
    char *path = jl_find_in(folders, name);
    struct stat info;

    if (!path || stat(path, &info) != 0)
        jl_fail(JL_NOT_FOUND, "%s: not found", name);
    if (S_ISDIR(info.st_mode))
        jl_fail(JL_NOT_EXECUTABLE, "%s: is a directory", name);
    if (access(path, X_OK) != 0)
        jl_fail(JL_NOT_EXECUTABLE, "%s: not executable", name);
    return path;
}
