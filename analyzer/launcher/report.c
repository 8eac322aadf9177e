/* SPDX-License-Identifier: MIT
 *
 * Runs jprof-report.  Nothing that stands in a log is an argument of it.
 * Runs in: launcher. */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "jp_limits.h"
#include "launcher/base/say.h"
#include "launcher/os/place.h"
#include "launcher/os/spawn.h"
#include "read/names.h"

#define ANY_LINKS ((nlink_t)-1)

extern char **environ;

const struct jl_help jl_report_help = {
    .usage = "jprof report [OPTION...] [PROGRAM] DIR|LOG...\n",
    .text = "report makes a report of a profile on stdout; the options are "
            "those of\n"
            "jprof-report(1), for instance --format=text.\n",
};

size_t jl_report_logs(const struct jl_folder *folder)
{
    size_t count, logs = 0;
    char **names = jl_folder_list(folder, JP_LOG_NAME, &count);
    struct stat info;

    for (size_t i = 0; i < count; i++) {
        int fd = jr_is_numbered(names[i], JP_LOG_NAME)
                     ? jl_folder_open(folder, names[i], O_RDONLY, 1, &info)
                     : -1;

        if (fd >= 0) {
            logs++;
            close(fd);
        }
    }
    jl_folder_free_list(names, count);
    return logs;
}

/* Becomes jprof-report, with the profile's folder as working directory: file
 * names in it stay right whatever happens to the folder's own name. */
static _Noreturn void run_reporter(const struct jl_folder *folder,
                                   const char *reporter, int out)
{
    char *const argv[] = {(char *)"jprof-report", (char *)"--merge",
                          (char *)".", NULL};

    char *here = realpath(".", NULL);

    /* jprof-report may read sources below the user's working directory. */
    if (here)
        setenv(JR_WORK_FOLDER, here, 1);
    jl_signals_restore();
    if (fchdir(folder->fd) == 0 && dup2(out, STDOUT_FILENO) >= 0)
        execve(reporter, argv, environ);
    jr_say("%s: %s", reporter, strerror(errno));
    _exit(JR_FAILED);
}

/* Runs jprof-report and returns its exit status. */
static int make_report(const struct jl_folder *folder, const char *reporter,
                       int out)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        run_reporter(folder, reporter, out);
    if (pid < 0)
        return JR_FAILED;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return JR_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : JR_FAILED;
}

/* Opens the folder and the report to others, and nothing else: a JIT file of a
 * process that was killed, or is running, is a link to what its runtime wrote,
 * with the mode that it has there. */
static int open_to_all(const struct jl_folder *folder, int report)
{
    size_t count;
    char **names = jl_folder_list(folder, JP_LOG_NAME, &count);
    struct stat info;
    int closed = 1;

    for (size_t i = 0; i < count; i++) {
        int fd = jl_folder_open(folder, names[i], O_RDONLY, ANY_LINKS, &info);

        closed &= fd < 0 || !(info.st_mode & 0077) || fchmod(fd, 0600) == 0;
        if (fd >= 0)
            close(fd);
    }
    jl_folder_free_list(names, count);
    return closed && fchmod(report, 0644) == 0 && fchmod(folder->fd, 0755) == 0;
}

/* Whether the path that was printed for the user still leads to the folder. */
static int is_in_place(const struct jl_folder *folder)
{
    struct stat there, ours;

    return stat(folder->shown, &there) == 0 && fstat(folder->fd, &ours) == 0 &&
           jr_is_same_file(&there, &ours);
}

int jl_report_write(const struct jl_folder *folder, const char *reporter,
                    int is_public)
{
    char *temporary;
    int shown;
    int out = jl_folder_temporary(folder, &temporary);
    int status = out < 0 ? JR_FAILED : make_report(folder, reporter, out);
    int done = status == JR_COMPLETE || status == JR_PARTIAL;

    if (done && is_public)
        done = open_to_all(folder, out);
    if (done)
        done = renameat(folder->fd, temporary, folder->fd, JL_REPORT_NAME) == 0;
    shown = done && is_in_place(folder);
    if (shown)
        jr_say("report: %s/" JL_REPORT_NAME, folder->shown);
    else if (done)
        jr_say("%s is no longer the profile's folder, it was renamed or "
               "replaced: the report, " JL_REPORT_NAME ", is in the folder "
               "that had this name",
               folder->shown);
    else
        jr_say("no report could be written; the profile is in %s",
               folder->shown);
    if (out >= 0) {
        close(out);
        if (!done)
            unlinkat(folder->fd, temporary, 0);
    }
    free(temporary);
    return shown;
}

_Noreturn void jl_report_again(char **words)
{
    char *reporter = jl_find_reporter(), **argv;
    size_t count = 0;

    while (words[count])
        count++;
    argv = jr_alloc(count + 2, sizeof *argv);
    argv[0] = (char *)"jprof-report";
    argv[1] = (char *)"--profile";
    memcpy(argv + 2, words + 1, count * sizeof *argv);
    jl_signals_restore();
    execve(reporter, argv, environ);
    jl_fail(JR_FAILED, "%s: %s", reporter, strerror(errno));
}
