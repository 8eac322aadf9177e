/* SPDX-License-Identifier: MIT
 *
 * Finds a jcmd that may be executed, and executes it as who may ask.
 * Runs in: launcher. */
#include "jvm.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/base/say.h"
#include "launcher/os/place.h"
#include "launcher/os/reach.h"
#include "launcher/os/spawn.h"

#define SECONDS 60

/* The folder of the process's program, allocated; NULL: not known. */
static char *home_of(int dir)
{
    char path[PATH_MAX];
    ssize_t length = readlinkat(dir, "exe", path, sizeof path - 1);
    char *slash;

    if (length <= 0)
        return NULL;
    path[length] = '\0';
    slash = strrchr(path, '/');
    return slash ? jr_strndup(path, (size_t)(slash - path)) : NULL;
}

/* FOLDER, so many folders up. */
static char *up(const char *folder, int count)
{
    char *path = jr_strdup(folder), *slash;

    while (count-- > 0 && (slash = strrchr(path, '/')))
        *slash = '\0';
    return path;
}

/* The file behind `path`, if it can be executed and nobody else can have put
 * it there; allocated.  *refused: there is one, and it is not such a file.
 * Frees `path`. */
static char *try_jcmd(char *path, int *refused)
{
    char *file = path ? realpath(path, NULL) : NULL;

    free(path);
    if (file && access(file, X_OK) == 0) {
        if (jl_file_is_safe(file))
            return file;
        *refused = 1;
    }
    free(file);
    return NULL;
}

/* Beside the JVM's program, two folders above, or in PATH. */
static char *find_jcmd(int dir, int *refused)
{
    char *home = home_of(dir), *above, *found = NULL;

    if (home) {
        above = up(home, 2);
        found = try_jcmd(jr_printf("%s/jcmd", home), refused);
        if (!found)
            found = try_jcmd(jr_printf("%s/bin/jcmd", above), refused);
        free(above);
        free(home);
    }
    return found ? found : try_jcmd(jl_find_command("jcmd"), refused);
}

/* Whether the process is one user's, and nobody else in part. */
static int has_one_user(const struct jl_status *status)
{
    if (!status->has_uids || !status->has_gids)
        return 0;
    for (int i = 1; i < 4; i++)
        if (status->uids[i] != status->uids[0] ||
            status->gids[i] != status->gids[0])
            return 0;
    return geteuid() == 0 || status->uids[0] == geteuid();
}

/* Whether the JVM was started so that it answers SIGQUIT with a list of its
 * threads on its own stdout (HotSpot's signal dispatcher, runtime/os.cpp).
 * jcmd asks it first, but only where it has performance data. */
static int refuses_attach(int dir)
{
    static const char word[] = "+DisableAttachMechanism";
    static const char *const places[] = {"cmdline", "environ"};
    int found = 0;

    for (size_t i = 0; i < 2 && !found; i++) {
        size_t size;
        char *text = jl_proc_read(dir, places[i], &size);

        found = text && memmem(text, size, word, sizeof word - 1) != NULL;
        free(text);
    }
    return found;
}

void jl_jvm_ask(const char *pid, int dir, const struct jl_status *status)
{
    int refused = 0;
    char *jcmd, *argv[] = {(char *)"jcmd", (char *)pid,
                           (char *)"Compiler.perfmap", NULL};
    char *const env[] = {(char *)"PATH=/usr/bin:/bin", (char *)"LC_ALL=C",
                         NULL};
    struct jl_spawn spawn = {.argv = argv,
                             .env = env,
                             .seconds = SECONDS,
                             .as_user = status->uids[0] != geteuid(),
                             .uid = status->uids[0],
                             .gid = status->gids[0]};

    if (!has_one_user(status)) {
        jr_say("the JVM %s is not one user's alone: it is not asked for its "
               "map",
               pid);
        return;
    }
    /* jcmd sends SIGQUIT to a JVM that has not been asked before, and would
     * end what only looks like one, or was started with -Xrs. */
    if (!(status->caught >> (SIGQUIT - 1) & 1) || refuses_attach(dir)) {
        jr_say("the JVM %s does not listen to jcmd: it is not asked for its "
               "map",
               pid);
        return;
    }
    jcmd = find_jcmd(dir, &refused);
    spawn.path = jcmd;
    if (!jcmd && refused)
        jr_say("the jcmd of the JVM %s can be written by another user than "
               "you and root: it is not executed",
               pid);
    else if (!jcmd)
        jr_say("there is no jcmd (of the JDK) to ask the JVM for its map with");
    else if (jl_spawn(&spawn) != 0)
        jr_say("the JVM %s gave no map of its code (jcmd %s Compiler.perfmap)",
               pid, pid);
    free(jcmd);
}
