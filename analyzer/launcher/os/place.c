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

/* Where distributions have the library's folder, beside the launcher's. */
static const char *const lib_folders[] = {JP_MACHINE_LIB, "lib64", "lib"};

char *jl_find_library(void)
{
    char *folder = home();
    char *path = jr_printf("%s/libjprof.so", folder);
    char *slash = strrchr(folder, '/');

    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && !is_file(path) &&
                       i < sizeof(lib_folders) / sizeof(lib_folders[0]);
         i++) {
        free(path);
        path = jr_printf("%s/%s/jprof/libjprof.so", folder, lib_folders[i]);
    }
    free(folder);
    return need(path);
}

char *jl_find_command(const char *name)
{
    const char *at = getenv("PATH");
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

char *jl_find_program(const char *name)
{
    char *path = jl_find_command(name);
    struct stat info;

    if (!path || stat(path, &info) != 0)
        jl_fail(JL_NOT_FOUND, "%s: not found", name);
    if (S_ISDIR(info.st_mode))
        jl_fail(JL_NOT_EXECUTABLE, "%s: is a directory", name);
    if (access(path, X_OK) != 0)
        jl_fail(JL_NOT_EXECUTABLE, "%s: not executable", name);
    return path;
}
