/* SPDX-License-Identifier: MIT
 *
 * What a run is made of, in its order.
 * Runs in: launcher. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/os/claim.h"
#include "jp_limits.h"
#include "launcher/base/options.h"
#include "launcher/base/say.h"
#include "launcher/folder/folder.h"
#include "launcher/folder/keep.h"
#include "launcher/folder/modules.h"
#include "launcher/folder/trim.h"
#include "launcher/os/check.h"
#include "launcher/os/environ.h"
#include "launcher/os/place.h"
#include "launcher/program/ask.h"
#include "launcher/program/preload.h"
#include "launcher/program/program.h"
#include "launcher/program/treefile.h"
#include "live.h"
#include "report.h"
#include "view.h"

/* a folder's name has so many bytes of its program's name at most */
#define NAME_MAX_SHOWN 100

extern char **environ;

struct run {
    struct jl_options options;
    struct jl_check check;
    struct jl_folder folder;
    struct jl_request request;
    struct jl_program program;
    char *path, *library, *reporter;
};

/* jprof-PROGRAM-DATE-PID, allocated; bytes that a file name need not have
 * become _. */
static char *folder_name(const char *path)
{
    char name[NAME_MAX_SHOWN + 1], date[32];
    time_t now = time(NULL);
    struct tm parts;

    snprintf(name, sizeof name, "%s", jr_base_name(path));
    for (char *at = name; *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
              (*at >= '0' && *at <= '9') || strchr("._+-", *at)))
            *at = '_';
    localtime_r(&now, &parts);
    strftime(date, sizeof date, "%Y%m%d-%H%M%S", &parts);
    return jr_printf("jprof-%s-%s-%ld", name, date, (long)getpid());
}

static void make_folder(struct run *run)
{
    char *name;

    if (run->options.out) {
        jl_folder_make(&run->folder, run->options.out, 1);
        return;
    }
    name = folder_name(run->path);
    jl_folder_make(&run->folder, name, 0);
    free(name);
}

/* Explains to the user why there is no profile to report on. */
static void say_nothing(const struct run *run)
{
    uint64_t period = run->options.period_ns;
    char *unprofiled = jl_tree_unprofiled(&run->folder);

    if (run->check.why) /* which was said before the program began */
        jr_say("no report: no samples were taken");
    else if (unprofiled)
        jr_say("no report: no samples were taken of what used the CPU: %s",
               unprofiled);
    else
        jr_say("no report: no samples were taken: the program used less than "
               "one period of CPU time, %d.%09d s, or libjprof.so was not "
               "loaded into it",
               (int)(period / 1000000000U), (int)(period % 1000000000U));
    free(unprofiled);
    unlinkat(run->folder.fd, JP_TREE_NAME, 0);
    if (!run->options.out)
        jl_folder_drop(&run->folder);
}

static int look_at_modules(void *data)
{
    return jl_modules_look(data);
}

/* The environment of the program before anything is added to it. */
static void fill_environment(const struct jl_options *options,
                             struct jl_env *env)
{
    jl_env_copy(env, environ);
    for (size_t i = 0; i < options->nvariables; i++)
        jl_env_assign(env, options->variables[i]);
}

static char *find_program(const struct jl_options *options)
{
    struct jl_env env;
    char *path;

    fill_environment(options, &env);
    path = jl_find_program(jl_env_get(&env, "PATH"), options->program[0]);
    jl_env_free(&env);
    return path;
}

static void run_program(struct run *run)
{
    struct jl_whole whole = {.program = &run->program};
    char **argv = run->options.program;
    struct jl_preload preload;
    struct jl_env env, bare;

    fill_environment(&run->options, &env);
    fill_environment(&run->options, &bare);
    jl_ask(&run->request, &run->options, &run->folder, run->path, &env);
    jl_flags_set(&env, &run->options, &run->folder);
    jl_preload_set(&preload, &env, run->check.no_preload ? NULL : run->library);
    jl_flags_set(&bare, &run->options, &run->folder);
    jl_env_set(&bare, "LD_PRELOAD", jl_env_get(&env, "LD_PRELOAD"));
    run->program = (struct jl_program){.path = run->path,
                                       .argv = argv,
                                       .env = env.words,
                                       .bare = bare.words,
                                       .jit_files = run->request.files};
    run->program.data = jl_modules_begin(&run->folder);
    run->program.look = look_at_modules;
    jl_program_run(&run->program);
    jl_modules_end(run->program.data);
    jl_preload_drop(&preload);
    whole.why = run->check.why;
    whole.note = run->request.refusal;
    if (jl_claim_failed(run->request.files, (uint32_t)run->program.pid))
        whole.note = "another user had its name in /tmp";
    else
        whole.no_result = run->request.no_result;
    whole.no_args = run->options.no_args ||
                    jl_flags_have(jl_env_get(&env, JP_ENV_FLAGS), "JP_NO_ARGS");
    jl_tree_write(&run->folder, &whole);
    jl_request_free(&run->request);
    jl_env_free(&bare);
    jl_env_free(&env);
}

static void say_signal(const struct jl_program *program)
{
    int number = program->status - 128;

    if (number > 0 && number <= 64)
        jr_say("%s ended with status %d, as a program killed by signal %s does",
               program->argv[0], program->status, jl_signal_name(number));
}

int jl_run(char **words)
{
    struct run run = {0};
    struct jl_live live = {0};

    jl_options_parse(words, &run.options);
    run.path = find_program(&run.options);
    run.reporter = jl_find_reporter();
    run.library = jl_find_library();
    jl_check_program(&run.check, run.path, run.library);
    make_folder(&run);
    if (run.options.push)
        jl_live_start(&live, &run.options, &run.folder, run.reporter);
    run_program(&run);
    say_signal(&run.program);
    jl_keep_files(&run.folder, &run.request);
    if (run.options.push)
        jl_live_finish(&live);
    jl_trim_logs(&run.folder);
    jl_claim_drop(run.request.files, (uint32_t)run.program.pid);
    if (jl_report_logs(&run.folder) == 0)
        say_nothing(&run);
    else if (jl_report_write(&run.folder, run.reporter,
                             run.options.is_public) &&
             run.options.view)
        jl_view_at_end(run.options.viewer, run.folder.shown);
    return run.program.status;
}
