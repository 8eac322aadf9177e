/* SPDX-License-Identifier: MIT
 *
 * Lets jprof-report write the archive of a profile's folder.
 * Runs in: launcher. */
#include "pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/base/say.h"
#include "launcher/os/place.h"
#include "launcher/os/spawn.h"

#define EXTENSION ".tar.zst"

extern char **environ;

/* The folder's own name with the extension, in the current folder; for what
 * has no name of its own, as "..", that of the folder which is meant. */
static char *made_up_name(const char *folder)
{
    char *real = realpath(folder, NULL);
    const char *slash = real ? strrchr(real, '/') : NULL;
    char *name;

    if (!real)
        jl_fail(JR_FAILED, "%s: %s", folder, strerror(errno));
    if (slash[1] == '\0')
        jl_usage("pack: the root folder has no name: -o FILE");
    name = jr_printf("%s" EXTENSION, slash + 1);
    free(real);
    return name;
}

int jl_pack(char **words)
{
    char *folder = NULL, *path = NULL;
    struct stat info;

    for (char **word = words + 1; *word; word++) {
        if (strcmp(*word, "-o") == 0) {
            if (!word[1])
                jl_usage("pack: -o needs a file");
            path = *++word;
        } else if (**word == '-') {
            jl_usage("pack: unknown option %s", *word);
        } else if (folder) {
            jl_usage("pack: %s: one folder only", *word);
        } else {
            folder = *word;
        }
    }
    if (!folder)
        jl_usage("pack: which folder?");
    if (stat(folder, &info) != 0)
        jl_fail(JR_FAILED, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        jl_usage("pack: %s: is no folder", folder);
    if (!path)
        path = made_up_name(folder);
    /* The archive has the maps, and those have the arguments of commands: it is
     * the user's alone. */
    umask(077);
    jl_signals_restore();
    execve(jl_find_reporter(),
           (char *[]){(char *)"jprof-report", (char *)"--profile",
                      (char *)"--format=archive", (char *)"-o", path,
                      (char *)"--", folder, NULL},
           environ);
    jl_fail(JR_FAILED, "jprof-report: %s", strerror(errno));
}
