/* SPDX-License-Identifier: MIT
 *
 * Opens, writes and closes the file of a report, and sees to it that what was
 * written is there.  A file is replaced as a whole, by a new one that was
 * written beside it; what is no file (a device, a FIFO) is written to as it
 * is and never removed.  Others may own the folder: it is held open, and what
 * was looked at there is looked at again, or replaced by name, not followed.
 * Runs in: analyzer. */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/ends.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/ours.h"
#include "write/export/zip.h"

#define NAMES_TRIED 100
#define PREFIX ".jprof-report-" /* with which names of new files begin */

/* A file that is being written. */
struct target {
    const char *path; /* as the user named it */
    int is_made_up;   /* the user did not name it */
    int is_link;      /* the path is a link of the user's, or of root's */
    struct stat old;  /* of what is there; st_mode 0: nothing */
    int folder;       /* held open; -1: none */
    const char *name; /* in there; `folder` -1: written to as it is */
    char *temporary;  /* in there; NULL likewise, */
    int lock;         /* of it; -1: none */
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

/* Opens the folder of `path`, which names no link any more; from then on that
 * folder is meant, whatever becomes of its name.  No link of others leads
 * there.  Returns 0, or -1 with errno. */
static int open_folder(struct target *target, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash ? jr_strndup(path, (size_t)(slash - path) + 1) : jr_strdup(".");

    target->name = slash ? slash + 1 : path;
    target->folder = jr_folder_open(folder);
    free(folder);
    return target->folder < 0 ? -1 : 0;
}

/* Why a file is not one to replace under a name that was made up: 0, or an
 * errno.  Others may have put it there. */
static int refuse(const struct stat *old)
{
    if (S_ISLNK(old->st_mode))
        return ELOOP;
    if (S_ISDIR(old->st_mode))
        return EISDIR;
    if (!S_ISREG(old->st_mode))
        return EEXIST;
    if (old->st_uid != geteuid())
        return EPERM;
    return old->st_nlink == 1 ? 0 : EMLINK;
}

/* Removes a new file that a report which was killed has left: nobody holds its
 * lock any more. */
static void remove_left(int folder, const char *name)
{
    int fd = openat(folder, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat info;

    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && refuse(&info) == 0 &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

/* Whether make_temporary gives such names, PREFIX "PID-NUMBER": one that only
 * begins so may be anybody's. */
static int is_made_here(const char *name)
{
    const char *digits = "0123456789", *at = name + sizeof(PREFIX) - 1;
    size_t length;

    if (strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0 ||
        (length = strspn(at, digits)) == 0 || at[length] != '-')
        return 0;
    at += length + 1;
    length = strspn(at, digits);
    return length > 0 && at[length] == '\0';
}

/* Once for reports that go to one folder. */
static void sweep(int folder)
{
    static struct stat last;
    struct stat info;
    const struct dirent *entry;
    DIR *names;
    int fd;

    if (fstat(folder, &info) != 0 || jr_is_same_file(&info, &last))
        return;
    last = info;
    fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    names = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && names == NULL)
        close(fd);
    if (names == NULL)
        return;
    while ((entry = readdir(names)) != NULL)
        if (is_made_here(entry->d_name))
            remove_left(folder, entry->d_name);
    closedir(names);
}

/* The new file that a signal which ends the program takes away. */
static volatile int begun_in = -1; /* its folder; -1: none */
static char begun[sizeof PREFIX + 32];

/* A jr_undo_fn. */
static void remove_begun(void)
{
    if (begun_in >= 0)
        (void)unlinkat(begun_in, begun, 0);
}

/* Creates the file of a new name and locks it; returns its descriptor or -1
 * with errno. */
static int create_temporary(struct target *target)
{
    mode_t mode = target->is_made_up ? 0600 : 0666;
    struct stat info;
    int fd = -1;

    for (int i = 0; i < NAMES_TRIED && fd < 0; i++) {
        free(target->temporary);
        target->temporary = jr_printf(PREFIX "%ld-%d", (long)getpid(), i);
        snprintf(begun, sizeof begun, "%s", target->temporary);
        fd = openat(target->folder, target->temporary,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
        /* Another report may have taken it for one that was left. */
        if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 ||
                        fstat(fd, &info) != 0 || info.st_nlink == 0)) {
            close(fd);
            fd = -1;
        }
    }
    return fd;
}

/* Makes a file of a new name in the folder and locks it, for as long as
 * target->lock is open; returns its descriptor or -1 with errno. */
static int make_temporary(struct target *target)
{
    sigset_t all, before;
    int fd;

    jr_ends_add(remove_begun);
    /* A signal comes before the file is there, or finds it in begun_in. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    fd = create_temporary(target);
    if (fd >= 0)
        begun_in = target->folder;
    sigprocmask(SIG_SETMASK, &before, NULL);
    target->lock = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        free(target->temporary);
        target->temporary = NULL;
        return -1;
    }
    if (target->old.st_mode != 0 && !target->is_made_up &&
        jr_is_owner_ours(&target->old, 0))
        (void)fchmod(fd, target->old.st_mode & 0777);
    return fd;
}

/* A name that was made up: of a file of the user's, or of none.  Returns 0, or
 * -1 with errno. */
static int look_at_made_up(struct target *target)
{
    if (open_folder(target, target->path) != 0)
        return -1;
    if (fstatat(target->folder, target->name, &target->old,
                AT_SYMLINK_NOFOLLOW) != 0) {
        target->old.st_mode = 0;
        return errno == ENOENT ? 0 : -1;
    }
    errno = refuse(&target->old);
    return errno ? -1 : 0;
}

/* A name of the user's, who may have a link there: *final is the path behind
 * it, freed by the caller.  Returns 0, or -1 with errno. */
static int look_at_named(struct target *target, char **final)
{
    struct stat *old = &target->old;

    *final = NULL;
    if (lstat(target->path, old) != 0)
        old->st_mode = 0;
    target->is_link = S_ISLNK(old->st_mode);
    /* Another user may have put it there, and wait for what comes. */
    if (old->st_mode != 0 && !S_ISREG(old->st_mode) &&
        !jr_is_owner_ours(old, 0)) {
        errno = target->is_link ? ELOOP : EPERM;
        return -1;
    }
    if (target->is_link && stat(target->path, old) != 0)
        old->st_mode = 0;
    /* A link that leads nowhere: what it names is made by writing to it. */
    if (old->st_mode ? !S_ISREG(old->st_mode) : target->is_link)
        return 0;
    *final = target->is_link ? realpath(target->path, NULL)
                             : jr_strdup(target->path);
    return *final ? open_folder(target, *final) : 0;
}

/* Opens what is there: no file, or one in a folder that takes no new one.  It
 * must be what was looked at.  Returns its descriptor or -1 with errno. */
static int open_old(const struct target *target)
{
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    int fd, is_new = target->old.st_mode == 0;
    struct stat info;

    if (target->folder >= 0)
        fd = openat(target->folder, target->name,
                    flags | O_NOFOLLOW | O_NONBLOCK);
    else
        fd = open(target->path,
                  flags | (is_new ? O_CREAT : 0) |
                      (target->is_link ? 0 : O_NOFOLLOW),
                  0666);
    if (fd < 0 || fstat(fd, &info) != 0)
        return -1;
    if (is_new ? refuse(&info) != 0
               : info.st_dev != target->old.st_dev ||
                     info.st_ino != target->old.st_ino) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    if (target->is_made_up)
        (void)fchmod(fd, 0600);
    if (S_ISREG(info.st_mode) && ftruncate(fd, 0) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Returns a descriptor, or -1 with errno. */
static int open_either(struct target *target)
{
    int fd = -1;

    /* A file that may not be written to is not replaced either. */
    if (target->folder >= 0 && target->old.st_mode != 0 &&
        faccessat(target->folder, target->name, W_OK, 0) != 0)
        return -1;
    if (target->folder >= 0) {
        sweep(target->folder);
        fd = make_temporary(target);
    }
    /* No new file in this folder: the old one can be written to at least, but
     * for another user's. */
    if (fd < 0 && (target->folder < 0 || (target->old.st_mode != 0 &&
                                          jr_is_owner_ours(&target->old, 0))))
        fd = open_old(target);
    return fd;
}

/* Returns 0, or what errno says of the write that failed. */
static int close_stream(FILE *out)
{
    int error = 0;

    errno = 0;
    if (ferror(out)) {
        /* Much was written since: one byte more says what was wrong. */
        clearerr(out);
        if (fputc('\n', out) == EOF || fflush(out) != 0)
            error = errno;
        error = error ? error : EIO;
    } else if (fflush(out) != 0) {
        error = errno ? errno : EIO;
    }
    if (fclose(out) != 0 && error == 0)
        error = errno ? errno : EIO;
    return error;
}

/* Puts the new file in its place, or removes it after an error. */
static int settle(const struct target *target, int error)
{
    if (target->temporary == NULL)
        return error;
    if (error == 0 && renameat(target->folder, target->temporary,
                               target->folder, target->name) != 0)
        error = errno;
    if (error != 0)
        unlinkat(target->folder, target->temporary, 0);
    begun_in = -1;
    return error;
}

/* Whether the file of that name is to be compressed: a format that another
 * tool reads so, which does not compress by itself. */
static int is_zipped(const struct jr_format *format, const char *path)
{
    const char *dot = strrchr(path, '.');
    const char *own = strrchr(format->extension, '.');

    return (format->needs & JR_NEEDS_PLACES) && strcmp(own, ".gz") != 0 &&
           dot && strcmp(dot, ".gz") == 0;
}

static void write_to(const struct jr_report *report,
                     const struct jr_format *format, const char *path,
                     FILE *out)
{
    FILE *zip =
        is_zipped(format, path) ? jr_zip_open(out, JR_ZIPPED_TEXT) : NULL;

    format->write(report, zip ? zip : out);
    if (zip)
        (void)fclose(zip);
}

static int write_file(const struct jr_report *report,
                      const struct jr_format *format, struct target *target)
{
    char *final = NULL;
    int found = target->is_made_up ? look_at_made_up(target)
                                   : look_at_named(target, &final);
    int fd = found == 0 ? open_either(target) : -1;
    int error = 0;

    target->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (target->out == NULL) {
        jr_say("%s: %s; no report written", target->path, strerror(errno));
        error = -1;
    } else {
        write_to(report, format, target->path, target->out);
        error = settle(target, close_stream(target->out));
        if (error != 0)
            jr_say("%s: %s; %s", target->path, strerror(error),
                   target->temporary ? "no report written"
                                     : "the report is not complete");
    }
    if (target->lock >= 0)
        close(target->lock);
    if (target->folder >= 0)
        close(target->folder);
    free(final);
    free(target->temporary);
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
                    const struct jr_format *format, const char *path,
                    int is_made_up)
{
    struct target target = {
        .path = path, .folder = -1, .lock = -1, .is_made_up = is_made_up};

    if (path != NULL)
        return write_file(report, format, &target);
    format->write(report, stdout);
    return jr_output_close_stdout("the report");
}
