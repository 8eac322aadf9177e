/* SPDX-License-Identifier: MIT
 *
 * jprof: runs a program under libjprof.so and writes the report of its
 * profile; makes reports again; steers a program that is being profiled.
 * Runs in: launcher. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "control.h"
#include "jp_limits.h"
#include "jp_machine.h"
#include "launcher/base/options.h"
#include "launcher/base/say.h"
#include "launcher/os/place.h"
#include "launcher/os/spawn.h"
#include "launcher/program/preload.h"
#include "pack.h"
#include "push.h"
#include "report.h"
#include "run.h"
#include "view.h"

/* Opens those of descriptors 0 to 2 that are closed, so that no file of the
 * launcher gets such a number; they are closed again in the program. */
static void fill_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int print(const char *text)
{
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0 || ferror(stdout))
        jl_fail(JR_FAILED, "stdout: %s", strerror(errno));
    return JR_COMPLETE;
}

static int do_help(char **words)
{
    static const struct jl_help *const helps[] = {
        &jl_run_help,  &jl_report_help, &jl_view_help,
        &jl_pack_help, &jl_push_help,   &jl_control_help};
    const size_t count = sizeof helps / sizeof *helps;

    (void)words;
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i == 0 ? "Usage: " : "       ", helps[i]->usage);
    fputs("       jprof COMMAND --help\n"
          "       jprof --help | --version | --library\n\n",
          stdout);
    for (size_t i = 0; i < count; i++)
        jl_help_text(helps[i]);
    return print("--library shows where libjprof.so is, for LD_PRELOAD.\n"
                 "\n"
                 "The exit status is the program's own; 127 and 126 when it "
                 "cannot be found or\n"
                 "run, 64 for a wrong command line, 2 when jprof itself "
                 "fails.\n");
}

#ifndef JP_COMMIT
#define JP_COMMIT "unknown" /* the Makefile defines it */
#endif
#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
/* The library has the libunwind walker where its header was at hand. */
#if __has_include(<libunwind.h>)
#define WALKERS "cfi, fp, libunwind"
#else
#define WALKERS "cfi, fp"
#endif

static int do_version(char **words)
{
    (void)words;
    return print("jprof " JP_VERSION "\n"
                 "commit: " JP_COMMIT "\n"
                 "architecture: " JP_MACHINE_NAME "\n"
                 "compiler: " COMPILER "\n"
                 "JP_STACK: auto, " WALKERS "\n");
}

static int do_library(char **words)
{
    char *path = jl_find_library();
    char *line = jr_printf("%s\n", path);
    int status = print(line);

    (void)words;
    /* The path is right: who makes the link needs it. */
    if (!jl_preload_can(path))
        jr_say("LD_PRELOAD takes no path with blanks or colons: name a link "
               "to it there (ln -s), or start the program with jprof, which "
               "makes one");
    free(line);
    free(path);
    return status;
}

static int do_run(char **words)
{
    return jl_run(words + 1);
}

static int do_report(char **words)
{
    jl_report_again(words);
}

static const struct {
    const char *word;
    int (*run)(char **words); /* runs the command, which is words[0] */
} commands[] = {
    {"--help", do_help},       {"-h", do_help},       {"--version", do_version},
    {"run", do_run},           {"report", do_report}, {"start", jl_control},
    {"pause", jl_control},     {"clear", jl_control}, {"save", jl_control},
    {"view", jl_view},         {"pack", jl_pack},     {"push", jl_push},
    {"--library", do_library},
};

int main(int argc, char **argv)
{
    jr_diag_program = "jprof";
    jl_signals_save();
    fill_descriptors();
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].word) == 0)
            return commands[i].run(argv + 1);
    return jl_run(argv + (argc > 0));
}
