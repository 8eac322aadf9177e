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
#include "launcher/base/options.h"
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

const struct jl_help jl_pack_help = {
    .usage = "jprof pack [-o FILE] DIR\n",
    .text = "pack writes the profile and the names that it needs into one "
            "file, DIR.tar.zst,\n"
            "which report and view open on any machine.\n",
};

struct pack_options {
    const char *output;
};

static const struct jr_option output = {'o', NULL, "FILE",
                                        JR_TEXT(struct pack_options, output)};

int jl_pack(char **words)
{
    struct pack_options options = {NULL};
    struct jr_command_line line = {.words = words + 1};
    const struct jr_option_table table = {&output, 1, &options};
    char *folder = NULL, *path;
    enum jr_word word;
    struct stat info;

    while ((word = jl_option_next(&jl_pack_help, &line, &table, 1)) !=
           JR_WORD_END) {
        if (word == JR_WORD_OPERAND && folder)
            jl_usage("pack: %s: one folder only", line.operand);
        if (word == JR_WORD_OPERAND)
            folder = line.words[-1];
    }
    if (!folder)
        jl_usage("pack: which folder?");
    if (stat(folder, &info) != 0)
        jl_fail(JR_FAILED, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        jl_usage("pack: %s: is no folder", folder);
    path = options.output ? jr_strdup(options.output) : made_up_name(folder);
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
