/* SPDX-License-Identifier: MIT
 *
 * A folder of requests: each file has a head, lines "url", "path" and "type",
 * an empty line, and the body.
 * Runs in: launcher. */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "launcher/base/say.h"
#include "launcher/os/reach.h"

#define PREFIX "message-"
#define FIRST "jprof-push 1\n"
#define HEAD_MAX 32768 /* bytes of a head */

static char *default_folder(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state && *state == '/')
        return jr_printf("%s/jprof/push", state);
    if (home && *home == '/')
        return jr_printf("%s/.local/state/jprof/push", home);
    jl_fail(JR_FAILED, "there is no home for unsent profiles: use --spool=DIR");
}

void jl_spool_open(struct jl_spool *spool, const struct jl_destination *to)
{
    char *shown = to->spool ? jr_strdup(to->spool) : default_folder(), *last;
    int dir = jl_reach(shown, &last);
    struct stat info;

    *spool = (struct jl_spool){.limit = to->spool_bytes};
    if (mkdirat(dir, last, 0700) != 0 && errno != EEXIST)
        jl_fail(JR_FAILED, "%s: %s", shown, strerror(errno));
    spool->folder = (struct jl_folder){
        .fd =
            openat(dir, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
        .shown = shown};
    if (spool->folder.fd < 0 || fstat(spool->folder.fd, &info) != 0)
        jl_fail(JR_FAILED, "%s: %s", shown, strerror(errno));
    if (info.st_uid != geteuid() || (info.st_mode & 0077) != 0)
        jl_fail(JR_FAILED,
                "%s is open to other users or another's: it cannot keep "
                "profiles (chmod 700, or use --spool=DIR)",
                shown);
    close(dir);
    free(last);
}

void jl_spool_close(struct jl_spool *spool)
{
    close(spool->folder.fd);
    free(spool->folder.shown);
}

char **jl_spool_list(const struct jl_spool *spool, size_t *count)
{
    return jl_folder_list(&spool->folder, PREFIX, count);
}

/* A regular file's size; 0: it is none. */
static uint64_t size_of(const struct jl_spool *spool, const char *name)
{
    struct stat info;

    return fstatat(spool->folder.fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                   S_ISREG(info.st_mode)
               ? (uint64_t)info.st_size
               : 0;
}

/* Removes the oldest messages until `size` more bytes are within the limit. */
static void make_room(struct jl_spool *spool, uint64_t size)
{
    size_t count;
    char **names = jl_spool_list(spool, &count);
    uint64_t sum = size;

    for (size_t i = 0; i < count; i++)
        sum += size_of(spool, names[i]);
    for (size_t i = 0; i < count && sum > spool->limit; i++) {
        const uint64_t freed = size_of(spool, names[i]);

        if (unlinkat(spool->folder.fd, names[i], 0) == 0) {
            sum -= freed;
            spool->dropped++;
        }
    }
    jl_folder_free_list(names, count);
}

static int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        const ssize_t done = write(fd, at, size);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        at += done;
        size -= (size_t)done;
    }
    return 0;
}

/* Names sort by time, then by who made them. */
static char *name_message(struct jl_spool *spool)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return jr_printf(PREFIX "%012lld%09ld-%ld-%" PRIu64, (long long)now.tv_sec,
                     now.tv_nsec, (long)getpid(), spool->serial++);
}

int jl_spool_put(struct jl_spool *spool, const char *url,
                 const struct jl_message *message)
{
    char *head = jr_printf(FIRST "url %s\npath %s\ntype %s\n\n", url,
                           message->path, message->type);
    char *temporary, *name = name_message(spool);
    int fd, failed;

    make_room(spool, strlen(head) + message->size);
    fd = jl_folder_temporary(&spool->folder, &temporary);
    failed = fd < 0 || write_all(fd, head, strlen(head)) != 0 ||
             write_all(fd, message->body, message->size) != 0 ||
             renameat(spool->folder.fd, temporary, spool->folder.fd, name) != 0;
    if (failed)
        jr_say("%s: a profile could not be kept until it is sent, and is lost: "
               "%s",
               spool->folder.shown, strerror(errno));
    if (failed && fd >= 0)
        unlinkat(spool->folder.fd, temporary, 0);
    if (fd >= 0)
        close(fd);
    free(temporary);
    free(name);
    free(head);
    return failed ? -1 : 0;
}

/* The value of a line "KEY VALUE" at *at, allocated; *at moves behind the
 * line.  NULL: another line is there, or none. */
static char *take_line(const char **at, const char *key)
{
    const size_t length = strlen(key);
    const char *end = strchr(*at, '\n');
    char *value;

    if (!end || strncmp(*at, key, length) != 0 || (*at)[length] != ' ')
        return NULL;
    value = jr_strndup(*at + length + 1, (size_t)(end - *at) - length - 1);
    *at = end + 1;
    return value;
}

/* Reads the head: the URL, allocated; NULL: it is no message. */
static char *read_head(struct jl_spooled *spooled)
{
    char *head = jr_alloc(HEAD_MAX + 1, 1), *url = NULL;
    const ssize_t got = pread(spooled->fd, head, HEAD_MAX, 0);
    const char *at = head + sizeof FIRST - 1;

    if (got > 0 && strncmp(head, FIRST, sizeof FIRST - 1) == 0)
        url = take_line(&at, "url");
    if (url)
        spooled->path = take_line(&at, "path");
    if (spooled->path)
        spooled->type = take_line(&at, "type");
    if (!spooled->type || *at != '\n' ||
        lseek(spooled->fd, at + 1 - head, SEEK_SET) < 0) {
        free(url);
        url = NULL;
    }
    free(head);
    return url;
}

static void let_go(struct jl_spooled *spooled)
{
    if (spooled->fd >= 0)
        close(spooled->fd);
    free(spooled->name);
    free(spooled->path);
    free(spooled->type);
    *spooled = (struct jl_spooled){.fd = -1};
}

int jl_spool_take(struct jl_spool *spool, const char *name, const char *url,
                  struct jl_spooled *spooled)
{
    struct stat info;
    char *its;
    int is_it;

    *spooled = (struct jl_spooled){
        .name = jr_strdup(name),
        .fd = jl_folder_open(&spool->folder, name, O_RDONLY, 1, &info)};
    if (spooled->fd < 0 || flock(spooled->fd, LOCK_EX | LOCK_NB) != 0 ||
        fstat(spooled->fd, &info) != 0 || info.st_nlink == 0) {
        let_go(spooled); /* another process sends it, or has sent it */
        return -1;
    }
    its = read_head(spooled);
    is_it = its && strcmp(its, url) == 0;
    if (!its) {
        jr_say("%s/%s is no message of jprof's; it is removed",
               spool->folder.shown, name);
        unlinkat(spool->folder.fd, name, 0);
    }
    free(its);
    if (!is_it)
        let_go(spooled);
    return is_it ? 0 : -1;
}

void jl_spool_release(struct jl_spool *spool, struct jl_spooled *spooled,
                      int is_done)
{
    if (is_done)
        unlinkat(spool->folder.fd, spooled->name, 0);
    let_go(spooled);
}
