/* SPDX-License-Identifier: MIT
 *
 * Finds the logs of a profile's folder, and the program of a log.
 * Runs in: analyzer. */
#include "profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/ours.h"
#include "base/table.h"
#include "jp_limits.h"
#include "read/foreign/foreign.h"
#include "read/names.h"
#include "write/figures.h"

static int is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int is_log(const char *path)
{
    char magic[8];
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why), found;

    if (fd >= 0 && jr_foreign_is(path)) {
        close(fd);
        return 1;
    }
    if (fd < 0)
        return 0;
    found = jr_file_pread(fd, magic, sizeof magic, 0) == sizeof magic &&
            memcmp(magic, JP_LOG_MAGIC, sizeof magic) == 0;
    close(fd);
    return found;
}

/* Returns whether the operand is an archive of a profile, which is compressed
 * as other tools' profiles may be. */
static int is_archive(const char *path)
{
    return jr_archive_is(path) && !jr_foreign_is(path);
}

void jr_profile_settle(struct jr_options *options)
{
    int has_folder = 0;

    if (options->nlogs == 0)
        return;
    for (size_t i = 0; i < options->nlogs; i++)
        has_folder |=
            is_folder(options->logs[i]) || is_archive(options->logs[i]);
    if (!options->profile && !is_folder(options->logs[0]) &&
        !is_log(options->logs[0]) && !is_archive(options->logs[0])) {
        options->app = options->logs[0];
        options->nlogs--;
        memmove(options->logs, options->logs + 1,
                options->nlogs * sizeof *options->logs);
    }
    if (((options->app == NULL || has_folder) && options->output_dir == NULL) ||
        options->before)
        options->merge = 1;
}

int jr_profile_is_unknown(const char *operand)
{
    struct stat info;

    return stat(operand, &info) == 0 && S_ISREG(info.st_mode) &&
           (info.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0;
}

static int compare(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Where a link of another user's leads root to the folder, what is in it is
 * read as by him. */
static void read_as_guide(const char *folder, size_t length)
{
    char *link = jr_strndup(folder, length);
    struct stat info;

    if (lstat(link, &info) == 0 && S_ISLNK(info.st_mode) &&
        !jr_is_owner_ours(&info, jr_sudo_user())) {
        info.st_mode = 0; /* a link's has no meaning (symlink(7)) */
        jr_file_read_for(&info);
    }
    free(link);
}

/* Adds the logs in the folder; returns how many there are. */
static size_t add_logs(struct jr_options *options, const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    size_t length = strlen(folder), before = options->nown_logs;
    const struct dirent *entry;
    struct stat info;

    while (length > 1 && folder[length - 1] == '/')
        length--;
    read_as_guide(folder, length);
    while (names && (entry = readdir(names))) {
        if (!jr_is_numbered(entry->d_name, JP_LOG_NAME) ||
            fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        *JR_PUSH(options->own_logs, options->nown_logs,
                 options->own_logs_room) =
            strcmp(folder, ".") == 0
                ? jr_strdup(entry->d_name)
                : jr_printf("%.*s/%s", (int)length, folder, entry->d_name);
    }
    if (names)
        closedir(names);
    if (options->nown_logs > before)
        qsort(options->own_logs + before, options->nown_logs - before,
              sizeof *options->own_logs, compare);
    return options->nown_logs - before;
}

/* The logs of an archive, which is read alone: the names that it has are those
 * of its own files. */
static int add_archive(struct jr_options *options, const char *archive,
                       size_t noperands)
{
    struct jr_unpacked *unpacked = &options->unpacked[options->nunpacked];

    if (noperands > 1) {
        jr_say("%s: an archive is read alone, and no other operand goes with "
               "it",
               archive);
        return -1;
    }
    if (jr_archive_unpack(archive, unpacked) != 0)
        return -1;
    options->names[options->nunpacked++] = unpacked->names;
    if (add_logs(options, unpacked->folder) == 0) {
        jr_say("%s: no log (" JP_LOG_NAME ") in it", archive);
        return -1;
    }
    options->symbols.archived = options->names;
    options->symbols.narchived = options->nunpacked;
    return 0;
}

/* Adds what one of the operands stands for, of so many on its side of a
 * comparison; -1: it is not there. */
static int add_operand(struct jr_options *options, const char *operand,
                       size_t noperands)
{
    if (is_folder(operand)) {
        if (add_logs(options, operand) > 0)
            return 0;
        jr_say("no log (" JP_LOG_NAME ") in %s", operand);
        return -1;
    }
    if (is_archive(operand))
        return add_archive(options, operand, noperands);
    if (options->app == NULL && access(operand, F_OK) != 0) {
        jr_say("%s: no such file or folder", operand);
        return -1;
    }
    *JR_PUSH(options->own_logs, options->nown_logs, options->own_logs_room) =
        jr_strdup(operand);
    return 0;
}

/* The program that the first log tells of. */
static int find_app(struct jr_options *options)
{
    struct jp_log_header *header;
    const char *why = NULL;
    int found;

    if (jr_foreign_is(options->logs[0])) {
        options->app = options->own_app =
            jr_strdup(jr_base_name(options->logs[0]));
        return 0;
    }
    header = jr_alloc(1, sizeof *header);
    found = jr_header_read(options->logs[0], header) == 0;

    if (!found && memcmp(header->magic, JP_LOG_MAGIC, 8) == 0)
        why = jr_header_refuse(header);
    if (why)
        jr_say("%s: %s; it cannot be read", options->logs[0], why);
    else if (!found)
        jr_say("%s is not a log of jprof that can be read", options->logs[0]);
    else
        options->app = options->own_app =
            jr_strdup(header->exe[0] ? header->exe : "(a program)");
    free(header);
    return found ? 0 : -1;
}

/* A log that stands in a named folder may be named besides, or its folder
 * twice: it counts once. */
static void drop_repeated(struct jr_options *options)
{
    struct jr_table seen = {0};
    struct stat info;
    size_t kept = 0;

    for (size_t i = 0; i < options->nown_logs; i++) {
        char *log = options->own_logs[i];

        if (stat(log, &info) == 0 && S_ISREG(info.st_mode) &&
            jr_table_put(&seen, info.st_dev, info.st_ino, (uint32_t)i) != i) {
            jr_say("%s: named more than once; it counts once", log);
            free(log);
        } else {
            options->own_logs[kept++] = log;
        }
    }
    options->nown_logs = kept;
    jr_table_free(&seen);
}

int jr_profile_expand(struct jr_options *options)
{
    const char **operands = options->logs;
    const char *first = options->nlogs ? options->logs[0] : NULL;
    size_t count = options->nlogs;
    int result = 0, has_folder = 0;

    options->logs = NULL;
    options->nlogs = options->logs_room = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        has_folder |= is_folder(operands[i]);
        result = add_operand(options, operands[i], count);
    }
    free(operands);
    if (count > 1 && has_folder)
        drop_repeated(options);
    if (result == 0 && options->before) {
        const size_t after = options->nown_logs;

        options->after = first;
        result = add_operand(options, options->before, 1);
        options->nbefore = options->nown_logs - after;
    }
    for (size_t i = 0; i < options->nown_logs; i++)
        *JR_PUSH(options->logs, options->nlogs, options->logs_room) =
            options->own_logs[i];
    if (result == 0 && options->nlogs > 0 && options->app == NULL)
        result = find_app(options);
    return result;
}

int jr_profile_is_packed(const struct jr_options *options, const char *log)
{
    for (size_t i = 0; i < options->nunpacked; i++) {
        const char *folder = options->unpacked[i].folder;
        const size_t length = strlen(folder);

        if (strncmp(log, folder, length) == 0 && log[length] == '/')
            return 1;
    }
    return 0;
}
