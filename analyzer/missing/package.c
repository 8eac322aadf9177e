/* SPDX-License-Identifier: MIT
 *
 * One run of dpkg-query --search for all files.
 * Runs in: analyzer. */
#include "package.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define QUERY "/usr/bin/dpkg-query"
#define SECONDS_MAX 10
#define ANSWER_MAX 65536U

static const char usr[] = "/usr";

/* Whether dpkg takes the path for one, and not for a pattern. */
static int is_plain(const char *path)
{
    return path[0] == '/' && !strpbrk(path, "*?[]\\\n");
}

/* The command: each path, and without /usr, as packages of times before the
 * merge of both have it. */
static const char **command_of(const char *const *paths, size_t count)
{
    const char **command = jr_alloc(2 * count + 4, sizeof *command);
    size_t used = 0;

    command[used++] = QUERY;
    command[used++] = "--search";
    command[used++] = "--";
    for (size_t i = 0; i < count; i++) {
        if (!is_plain(paths[i]))
            continue;
        command[used++] = paths[i];
        if (strncmp(paths[i], usr, sizeof usr - 1) == 0 &&
            paths[i][sizeof usr - 1] == '/')
            command[used++] = paths[i] + sizeof usr - 1;
    }
    return command;
}

/* Starts the query; returns its pid and *from, where its answer comes from, or
 * -1. */
static pid_t start(const char **command, int *from)
{
    static char *const environment[] = {(char *)"LC_ALL=C",
                                        (char *)"PATH=/usr/bin:/bin", NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid = -1;

    if (access(QUERY, X_OK) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    if (posix_spawn_file_actions_init(&actions) == 0) {
        if (posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY,
                                             0) != 0 ||
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1) != 0 ||
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
                                             0) != 0 ||
            posix_spawn(&pid, QUERY, &actions, NULL, (char *const *)command,
                        environment) != 0)
            pid = -1;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    *from = ends[0];
    return pid;
}

/* Reads an answer to its end, for some seconds at most. */
static char *read_answer(int from)
{
    const long end = jr_now_ms() + SECONDS_MAX * 1000;
    char *answer = jr_alloc(ANSWER_MAX + 1, 1);
    struct pollfd wait = {.fd = from, .events = POLLIN};
    size_t used = 0;

    while (used < ANSWER_MAX) {
        const long left = end - jr_now_ms();
        ssize_t got;

        if (left <= 0 || poll(&wait, 1, (int)left) <= 0)
            break;
        got = read(from, answer + used, ANSWER_MAX - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    return answer;
}

/* Whether `path` is what dpkg calls `known`. */
static int same_path(const char *path, const char *known)
{
    const size_t length = sizeof usr - 1;

    return strcmp(path, known) == 0 ||
           (strncmp(path, usr, length) == 0 && path[length] == '/' &&
            strcmp(path + length, known) == 0);
}

/* Whether a package, name[0..length), has a debug package of the older kind:
 * those of Debian 12 that many have, by the beginning of the name. */
static int has_older_kind(const char *name, size_t length)
{
    static const char *const starts[] = {
        "binutils", "ceph-",   "libbinutils",  "libcephfs", "libctf",
        "libdb5.3", "liblua5", "libgprofng",   "libpcre3",  "librados",
        "librbd",   "librgw",  "mono-runtime", "radosgw",   "valgrind"};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strlen(starts[i]) <= length &&
            memcmp(starts[i], name, strlen(starts[i])) == 0)
            return 1;
    return 0;
}

/* The debug package of a package, of whose name[0..length) an architecture and
 * others that have the file are no part. */
static char *debug_package(const char *name, size_t length)
{
    /* These share one. */
    static const char *const libc[] = {"libc6", "libc6-i386", "libc6-x32"};
    size_t end = 0;

    while (end < length && !strchr(":, ", name[end]))
        end++;
    for (size_t i = 0; i < sizeof libc / sizeof *libc; i++)
        if (strlen(libc[i]) == end && memcmp(libc[i], name, end) == 0)
            return jr_strdup("libc6-dbg");
    return jr_printf("%.*s-%s", (int)end, name,
                     has_older_kind(name, end) ? "dbg" : "dbgsym");
}

/* Reads a line "package:architecture: /path". */
static void read_line(char *line, const char *const *paths, size_t count,
                      char **packages)
{
    char *path = strstr(line, ": ");

    /* Lines about diversions name no package. */
    if (!path || strncmp(line, "diversion ", 10) == 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (!packages[i] && same_path(paths[i], path + 2))
            packages[i] = debug_package(line, (size_t)(path - line));
}

void jr_package_debug(const char *const *paths, size_t count, char **packages)
{
    const char **command = command_of(paths, count);
    char *answer, *next, *line;
    pid_t pid = -1;
    int from;

    for (size_t i = 0; i < count; i++)
        packages[i] = NULL;
    if (command[3])
        pid = start(command, &from);
    free(command);
    if (pid < 0)
        return;
    answer = next = read_answer(from);
    close(from);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    while ((line = strsep(&next, "\n")))
        read_line(line, paths, count, packages);
    free(answer);
}
