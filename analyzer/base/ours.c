/* SPDX-License-Identifier: MIT
 *
 * Looks at owners and modes, and goes to folders.
 * Runs in: analyzer, launcher. */
#include "ours.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"

#define LINKS_MAX 40 /* on one way, as the kernel's */
#define FOLDER (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

uid_t jr_sudo_user(void)
{
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;

    return text && *text >= '1' && *text <= '9' ? (uid_t)strtoul(text, NULL, 10)
                                                : 0;
}

int jr_is_owner_ours(const struct stat *info, uid_t friend)
{
    return info->st_uid == 0 || info->st_uid == geteuid() ||
           info->st_uid == friend;
}

int jr_is_ours(const struct stat *info, uid_t friend)
{
    int writable = (info->st_mode & 0002) ||
                   ((info->st_mode & 0020) && info->st_gid != getegid());

    if (!jr_is_owner_ours(info, friend))
        return 0;
    return !writable || (S_ISDIR(info->st_mode) && (info->st_mode & S_ISVTX));
}

/* What the link `part` of the folder says, into to[0..PATH_MAX); -1 with
 * errno: it is not one to follow. */
static int read_link(int dir, const char *part, char *to)
{
    int link = openat(dir, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat info, folder;
    ssize_t length = -1;

    if (link < 0)
        return -1;
    if (fstat(link, &info) == 0 && fstat(dir, &folder) == 0) {
        errno = S_ISLNK(info.st_mode) ? ELOOP : ENOTDIR;
        /* A link's mode has no meaning (symlink(7)), so its owner decides. */
        if (S_ISLNK(info.st_mode) && jr_is_owner_ours(&info, jr_sudo_user()) &&
            jr_is_ours(&folder, jr_sudo_user()))
            length = readlinkat(link, "", to, PATH_MAX - 1);
    }
    close(link);
    if (length < 0)
        return -1;
    to[length] = '\0';
    return 0;
}

static int walk(int dir, const char *path, unsigned *links);

/* Goes to what `part` of the folder is. */
static int step(int dir, const char *part, unsigned *links)
{
    int fd = openat(dir, part, FOLDER);
    char to[PATH_MAX];

    if (fd >= 0 || (errno != ENOTDIR && errno != ELOOP))
        return fd;
    if (read_link(dir, part, to) != 0)
        return -1;
    if (++*links > LINKS_MAX) {
        errno = ELOOP;
        return -1;
    }
    return walk(to[0] == '/' ? open("/", FOLDER) : openat(dir, ".", FOLDER), to,
                links);
}

/* Goes on from an open folder, which it closes. */
static int walk(int dir, const char *path, unsigned *links)
{
    while (dir >= 0 && *(path += strspn(path, "/")) != '\0') {
        size_t length = strcspn(path, "/");
        char *part = jr_strndup(path, length);
        int next = step(dir, part, links), error = errno;

        close(dir);
        free(part);
        errno = error;
        dir = next;
        path += length;
    }
    return dir;
}

int jr_folder_open(const char *path)
{
    unsigned links = 0;

    return walk(open(*path == '/' ? "/" : ".", FOLDER), path, &links);
}
