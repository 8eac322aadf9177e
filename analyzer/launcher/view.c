/* SPDX-License-Identifier: MIT
 *
 * Opens a profile: the HTML report, or an export in the viewer that it is for.
 * Runs in: launcher. */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "jp_limits.h"
#include "launcher/base/options.h"
#include "launcher/base/say.h"
#include "launcher/os/place.h"
#include "launcher/os/serve.h"
#include "launcher/os/spawn.h"

#define FIREFOX_ORIGIN "https://profiler.firefox.com"

extern char **environ;

/* How a profile is opened.  `command` is the viewer, with `option`
 * before the file; NULL: a page that gets the file from here. */
struct viewer {
    const char *format, *file, *command, *option, *hint;
};

static const struct viewer viewers[] = {
    [JL_VIEWER_PPROF] = {"pprof", "profile.pb.gz", "pprof", "-http=localhost:",
                         "`go install github.com/google/pprof@latest` brings "
                         "pprof"},
    [JL_VIEWER_FIREFOX] = {"firefox", "profile.firefox.json.gz", NULL, NULL,
                           FIREFOX_ORIGIN " opens the file"},
    [JL_VIEWER_SPEEDSCOPE] = {"speedscope", "profile.speedscope.json",
                              "speedscope", NULL,
                              "`npm install -g speedscope` brings speedscope, "
                              "and https://www.speedscope.app opens the file "
                              "too"},
    [JL_VIEWER_REPORT] = {"html", "report.html", NULL, NULL, NULL},
};

struct view_options {
    uint8_t viewer; /* enum jl_viewer */
};

static const struct jr_option with = {
    0, "--with", "VIEWER", JR_CHOICE(struct view_options, viewer, jl_viewers)};

const struct jl_help jl_view_help = {
    .usage = "jprof view [--with=pprof|firefox|speedscope] DIR|ARCHIVE\n",
    .text = "view opens the report in a browser, or the profile in a viewer.\n",
};

/* A command that can be run, allocated, or NULL. */
static char *command_of(const char *name)
{
    char *path = jl_find_command(name);

    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static int has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

    return (x && *x) || (wayland && *wayland);
}

/* Starts a program; returns its process id. */
static pid_t start(const char *path, char *const *argv)
{
    pid_t pid = fork();

    if (pid < 0)
        jl_fail(JR_FAILED, "fork: %s", strerror(errno));
    if (pid > 0)
        return pid;
    jl_signals_restore();
    execve(path, argv, environ);
    jr_say("%s: %s", path, strerror(errno));
    _exit(JL_NOT_EXECUTABLE);
}

static int end_of(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return JR_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Writes the profile in `folder` for a viewer, to `path`. */
static void write_export(const struct viewer *viewer, char *folder, char *path)
{
    char *reporter = jl_find_reporter();
    char *format = jr_printf("--format=%s", viewer->format);
    char *argv[] = {(char *)"jprof-report",
                    (char *)"--profile",
                    format,
                    (char *)"-o",
                    path,
                    folder,
                    NULL};
    int status = end_of(start(reporter, argv));

    if (status != JR_COMPLETE && status != JR_PARTIAL)
        jl_fail(status, "%s: the profile could not be written to %s", folder,
                path);
    free(format);
    free(reporter);
}

/* Executes the viewer in this process. */
static _Noreturn void run_viewer(const char *command, const char *option,
                                 char *path)
{
    char *argv[] = {(char *)command, option ? (char *)option : path,
                    option ? path : NULL, NULL};

    jl_signals_restore();
    execve(command, argv, environ);
    jl_fail(JL_NOT_EXECUTABLE, "%s: %s", command, strerror(errno));
}

/* A browser, allocated; NULL: there is none, or nothing to show it on. */
static char *find_browser(void)
{
    static const char *const names[] = {"firefox", "firefox-esr", "xdg-open"};
    char *found = NULL;

    for (size_t i = 0;
         has_display() && !found && i < sizeof names / sizeof *names; i++)
        found = command_of(names[i]);
    return found;
}

/* Gives the file to the Firefox Profiler's page in a browser. */
static int show_page(const char *browser, const char *path)
{
    struct jl_serve serve;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    char *url, *argv[3] = {(char *)browser};
    int status;

    if (file < 0 || jl_serve_open(&serve, file, FIREFOX_ORIGIN) != 0)
        jl_fail(JR_FAILED, "%s: %s", path, strerror(errno));
    url = jr_printf(FIREFOX_ORIGIN "/from-url/http%%3A%%2F%%2F127.0.0.1%%3A"
                                   "%" PRIu16 "%%2F%s",
                    serve.port, serve.token);
    argv[1] = url;
    jr_say("%s: given to " FIREFOX_ORIGIN " until the browser ends or has it",
           path);
    status = jl_serve_run(&serve, start(browser, argv));
    if (status == 0 && serve.sent == 0)
        jl_fail(JR_FAILED,
                "%s: the page did not ask for it within a minute of its "
                "browser's end; it can be opened there by hand",
                path);
    return status;
}

static int print_path(const char *path)
{
    if (printf("%s\n", path) < 0 || fflush(stdout) != 0)
        jl_fail(JR_FAILED, "stdout: %s", strerror(errno));
    return JR_COMPLETE;
}

/* The path of xdg-open, allocated; NULL: it or the display is missing. */
static char *find_opener(void)
{
    return has_display() ? command_of("xdg-open") : NULL;
}

static int view_report(char *path)
{
    char *browser = find_opener();

    if (browser)
        run_viewer(browser, NULL, path);
    return print_path(path);
}

static int view_export(const struct viewer *viewer, char *path)
{
    char *command =
        viewer->command ? command_of(viewer->command) : find_browser();

    if (command && viewer->command)
        run_viewer(command, viewer->option, path);
    if (command)
        return show_page(command, path);
    jr_say("%s is not here: %s",
           viewer->command ? viewer->command : "a browser with a display",
           viewer->hint);
    return print_path(path);
}

/* Where the file for a viewer goes: in the folder, or beside an archive under
 * its name. */
static char *path_for(const char *profile, const char *file)
{
    static const char extension[] = ".tar.zst";
    const size_t length = strlen(profile), known = sizeof extension - 1;
    size_t kept = length;
    struct stat info;

    if (stat(profile, &info) != 0 || S_ISDIR(info.st_mode))
        return jr_printf("%s%s%s", profile,
                         length && profile[length - 1] == '/' ? "" : "/", file);
    if (length > known && strcmp(profile + length - known, extension) == 0)
        kept -= known;
    return jr_printf("%.*s.%s", (int)kept, profile, file);
}

/* Opens the profile; returns the exit status. */
static int view(enum jl_viewer kind, char *profile)
{
    const struct viewer *viewer = &viewers[kind];
    char *path = path_for(profile, viewer->file);
    int status;

    if (kind != JL_VIEWER_REPORT || access(path, R_OK) != 0)
        write_export(viewer, profile, path);
    status = kind == JL_VIEWER_REPORT ? view_report(path)
                                      : view_export(viewer, path);
    free(path);
    return status;
}

void jl_view_at_end(enum jl_viewer kind, char *folder)
{
    char *opener = find_opener();
    pid_t pid;

    if (kind == JL_VIEWER_REPORT && !opener) {
        jr_say("the report is not opened: xdg-open or a display is missing");
        return;
    }
    free(opener);
    pid = fork();
    if (pid < 0)
        jr_say("%s cannot be opened: fork: %s", folder, strerror(errno));
    if (pid > 0)
        end_of(pid);
    if (pid != 0)
        return;
    /* stdout was the program's. */
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        jl_fail(JR_FAILED, "stdout: %s", strerror(errno));
    exit(view(kind, folder));
}

int jl_view(char **words)
{
    struct view_options options = {JL_VIEWER_REPORT};
    struct jr_command_line line = {.words = words + 1};
    const struct jr_option_table table = {&with, 1, &options};
    char *folder = NULL;
    enum jr_word word;

    while ((word = jl_option_next(&jl_view_help, &line, &table, 1)) !=
           JR_WORD_END) {
        if (word == JR_WORD_OPERAND && folder)
            jl_usage("view: %s: one folder only", line.operand);
        if (word == JR_WORD_OPERAND)
            folder = line.words[-1];
    }
    if (!folder)
        jl_usage("view: which folder?");
    return view(options.viewer, folder);
}
