/* SPDX-License-Identifier: MIT
 *
 * Goes to a folder part by part, and tells who can change a path.
 * Runs in: launcher. */
#include "reach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/ours.h"
#include "launcher/base/say.h"

#define LINKS_MAX 40 /* on one way, as the kernel's */
#define FOLDER (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* A way, and how far it has been gone. */
struct way {
    const char *name; /* as the user gave it */
    int fd;           /* the folder that has been reached */
    char *rest, *at;  /* from there on, allocated; read up to `at` */
    unsigned links;   /* that were followed */
};

static _Noreturn void fail(const struct way *way, const char *why)
{
    jl_fail(JR_FAILED, "%s: %s; nothing was run", way->name, why);
}

/* Goes on from another folder; -1 with errno: there is none. */
static void go_to(struct way *way, int fd)
{
    if (fd < 0)
        fail(way, strerror(errno));
    if (way->fd >= 0)
        close(way->fd);
    way->fd = fd;
}

/* Puts what a link says before the rest of the way. */
static void follow(struct way *way, const char *part)
{
    int link = openat(way->fd, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat info, folder;
    char to[PATH_MAX], *rest;
    ssize_t length;

    if (link < 0 || fstat(link, &info) != 0 || fstat(way->fd, &folder) != 0)
        fail(way, strerror(errno));
    if (!S_ISLNK(info.st_mode))
        fail(way, strerror(ENOTDIR));
    /* A link's mode has no meaning (symlink(7)), so its owner decides. */
    if (!jr_is_owner_ours(&info, jr_sudo_user()) ||
        !jr_is_ours(&folder, jr_sudo_user()))
        jl_fail(JR_FAILED,
                "%s: the link %s is another user's, or can be "
                "replaced by another user; nothing was run",
                way->name, part);
    length = readlinkat(link, "", to, sizeof to);
    close(link);
    if (length < 0)
        fail(way, strerror(errno));
    if (length == sizeof to || ++way->links > LINKS_MAX)
        fail(way, strerror(ELOOP));
    rest = jr_printf("%.*s/%s", (int)length, to, way->at);
    free(way->rest);
    way->rest = way->at = rest;
    if (rest[0] == '/')
        go_to(way, open("/", FOLDER));
}

static void step(struct way *way, const char *part)
{
    int fd = openat(way->fd, part, FOLDER);

    if (fd < 0 && errno == ENOENT) {
        if (mkdirat(way->fd, part, 0777) != 0 && errno != EEXIST)
            fail(way, strerror(errno));
        fd = openat(way->fd, part, FOLDER);
    }
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        follow(way, part);
    else
        go_to(way, fd);
}

int jl_reach(const char *name, char **last)
{
    struct way way = {.name = name, .fd = -1};

    if (!*name)
        fail(&way, strerror(ENOENT));
    way.rest = way.at = jr_strdup(name);
    go_to(&way, open(*name == '/' ? "/" : ".", FOLDER));
    for (;;) {
        size_t length;
        char *part;

        way.at += strspn(way.at, "/");
        length = strcspn(way.at, "/");
        part = length ? jr_strndup(way.at, length) : jr_strdup(".");
        way.at += length;
        if (way.at[strspn(way.at, "/")] == '\0') {
            *last = part;
            break;
        }
        step(&way, part);
        free(part);
    }
    free(way.rest);
    return way.fd;
}

/* Whether all folders above `path` are ours. */
static int is_reached_safely(const char *path, uid_t friend)
{
    char *part = jr_strdup(path);
    struct stat info;
    int safe =
        path[0] == '/' && lstat("/", &info) == 0 && jr_is_ours(&info, friend);

    for (char *at = part + 1; safe && *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        safe = lstat(part, &info) == 0 && S_ISDIR(info.st_mode) &&
               jr_is_ours(&info, friend);
        *at = '/';
    }
    free(part);
    return safe;
}

int jl_path_is_safe(const char *path)
{
    return is_reached_safely(path, jr_sudo_user());
}

int jl_file_is_safe(const char *path)
{
    struct stat info;

    return is_reached_safely(path, 0) && lstat(path, &info) == 0 &&
           S_ISREG(info.st_mode) && jr_is_ours(&info, 0);
}
