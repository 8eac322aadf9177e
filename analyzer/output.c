/* SPDX-License-Identifier: MIT
 *
 * Opens, writes and closes the file of a report, and sees to it that what was
 * written is there.  A file is replaced as a whole, by a new one that was
 * written beside it; what is no file (a device, a FIFO) is written to as it
 * is and never removed.
 * Runs in: analyzer. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"

#define NAMES_TRIED 100

/* A file that is being written. */
struct target {
    const char *path;   /* as the user named it */
    char *final;        /* without links; NULL: written to as it is */
    char *temporary;    /* beside `final`; NULL likewise */
    FILE *out;
};

char *jr_output_name(const char *log, const char *dir, const char *extension)
{
    const char *slash = strrchr(log, '/');
    const char *name = slash ? slash + 1 : log;

    if (dir == NULL)
        return jr_printf("%s%s", log, extension);
    return jr_printf("%s%s%s%s", dir,
                     *dir && dir[strlen(dir) - 1] == '/' ? "" : "/", name,
                     extension);
}

/* Makes a file of a new name in the folder of `final`; returns its descriptor
 * or -1 with errno. */
static int make_temporary(struct target *target, mode_t mode)
{
    const char *slash = strrchr(target->final, '/');
    int folder = slash ? (int)(slash - target->final) + 1 : 0;
    int fd = -1;

    for (int i = 0; i < NAMES_TRIED && fd < 0; i++) {
        free(target->temporary);
        target->temporary =
            jr_printf("%.*s.jprof-report-%ld-%d", folder, target->final,
                      (long)getpid(), i);
        fd = open(target->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        free(target->temporary);
        target->temporary = NULL;
    }
    return fd;
}

/* Where a regular file stands or will stand, without links; NULL when the
 * path leads to something else.  *mode is that of the file that is there,
 * else 0.  The caller frees the result. */
static char *file_behind(const char *path, mode_t *mode)
{
    struct stat info;

    *mode = 0;
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return NULL;
        *mode = info.st_mode & 0777;
        return realpath(path, NULL);
    }
    /* A link that leads nowhere: what it names is made by writing to it. */
    return lstat(path, &info) == 0 ? NULL : jr_strdup(path);
}

/* Whether a link that another user may have put there stands at the path. */
static int is_strange_link(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode) &&
           info.st_uid != 0 && info.st_uid != geteuid();
}

/* Returns 0, or -1 with errno. */
static int open_target(struct target *target)
{
    mode_t mode;
    int fd = -1;

    if (is_strange_link(target->path)) {
        errno = ELOOP;
        return -1;
    }
    target->final = file_behind(target->path, &mode);
    /* A file that may not be written to is not replaced either. */
    if (target->final != NULL && mode != 0 &&
        access(target->final, W_OK) != 0)
        return -1;
    if (target->final != NULL)
        fd = make_temporary(target, 0666);
    if (fd >= 0 && mode != 0)
        (void)fchmod(fd, mode);
    /* No new file in this folder: the old one can be written to at least. */
    if (fd < 0)
        fd = open(target->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                  0666);
    target->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    return target->out ? 0 : -1;
}

/* Returns 0, or what errno says of the write that failed. */
static int close_stream(FILE *out)
{
    int error = 0;

    errno = 0;
    if (fflush(out) != 0 || ferror(out))
        error = errno ? errno : EIO;
    if (fclose(out) != 0 && error == 0)
        error = errno ? errno : EIO;
    return error;
}

/* Puts the new file in its place, or removes it after an error. */
static int settle(const struct target *target, int error)
{
    if (target->temporary == NULL)
        return error;
    if (error == 0 && rename(target->temporary, target->final) != 0)
        error = errno;
    if (error != 0)
        unlink(target->temporary);
    return error;
}

static int write_file(const struct jr_report *report,
                      const struct jr_format *format, const char *path)
{
    struct target target = {.path = path};
    int error = 0;

    if (open_target(&target) != 0) {
        jr_say("%s: %s; no report written", path, strerror(errno));
        error = -1;
    } else {
        format->write(report, target.out);
        error = settle(&target, close_stream(target.out));
        if (error != 0)
            jr_say("%s: %s; %s", path, strerror(error),
                   target.temporary ? "no report written"
                                    : "the report is not complete");
    }
    free(target.final);
    free(target.temporary);
    return error ? -1 : 0;
}

int jr_output_close_stdout(const char *what)
{
    int error = close_stream(stdout);

    if (error == 0)
        return 0;
    jr_say("stdout: %s; %s is not complete", strerror(error), what);
    return -1;
}

int jr_output_write(const struct jr_report *report,
                    const struct jr_format *format, const char *path)
{
    if (path != NULL)
        return write_file(report, format, path);
    format->write(report, stdout);
    return jr_output_close_stdout("the report");
}
