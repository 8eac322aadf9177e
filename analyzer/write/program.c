/* SPDX-License-Identifier: MIT
 *
 * Finds the profiled program and its command.
 * Runs in: analyzer. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "figures.h"

/* The command as the launcher was given it; NULL without a launcher. */
static const char *given(const struct jr_report *report)
{
    return report->cover ? report->cover->command : NULL;
}

static char *first_word(const char *command)
{
    return jr_strndup(command, strcspn(command, " "));
}

/* The program that the tree's first process ran last, or first; without a log
 * of that, the first process there is. */
static const struct jr_process *leader(const struct jr_model *model, int last)
{
    const struct jr_process *found = NULL;

    for (size_t i = 0; i < model->nprocesses; i++) {
        const struct jr_process *process = &model->processes[i];
        const struct jp_log_header *header = &process->run->header;

        if (header->root_pid == 0 || header->root_pid != header->pid)
            continue;
        if (!found ||
            (header->cpu_before_ns >= found->run->header.cpu_before_ns) == last)
            found = process;
    }
    return found ? found : &model->processes[0];
}

static int is_root(const struct jr_process *process)
{
    return process->run->header.root_pid == process->run->header.pid;
}

char *jr_program_name(const struct jr_report *report)
{
    const struct jr_process *process = leader(report->model, 1);
    const char *command = given(report);
    const char *name = jr_base_name(jr_exe_of(process));
    char *word, *base;

    if (command == NULL)
        return jr_strdup(*name ? name : report->app);
    word = first_word(command);
    base = jr_strdup(jr_base_name(word));
    free(word);
    return base;
}

char *jr_program_text(const struct jr_report *report)
{
    const struct jr_process *process = leader(report->model, 1);
    const char *command = given(report), *exe = jr_exe_of(process);
    char *word, *text;

    if (command == NULL)
        return jr_strdup(*exe ? exe : report->app);
    word = first_word(command);
    /* The first process used too little to be sampled. */
    if (!is_root(process) || *exe == '\0')
        text = jr_strdup(word);
    else if (strcmp(jr_base_name(exe), jr_base_name(word)) == 0)
        text = jr_strdup(exe);
    else
        text = jr_printf("%s (started as %s)", exe, word);
    free(word);
    return text;
}

char *jr_program_command(const struct jr_report *report)
{
    const struct jr_process *process = leader(report->model, 0);

    if (given(report))
        return jr_strdup(given(report));
    if (process->map->cmdline && process->map->cmdline[0])
        return jr_strdup(process->map->cmdline);
    return NULL;
}
