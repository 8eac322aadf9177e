/* SPDX-License-Identifier: MIT
 *
 * What the writers of other tools' formats ask of a model.
 * Runs in: analyzer. */
#include "export.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/scope.h"
#include "write/escape.h"
#include "write/facts.h"

struct jr_scope_key *jr_export_buckets(const struct jr_model *model)
{
    struct jr_scope_key *keys = jr_alloc(model->nbuckets + 1, sizeof(*keys));

    jr_part_buckets(model, keys);
    jr_part_name_threads(model, keys, model->nbuckets);
    return keys;
}

struct jr_scope_key *jr_export_threads(const struct jr_model *model)
{
    struct jr_scope_key *keys = jr_alloc(model->nthreads + 1, sizeof(*keys));

    for (uint32_t i = 0; i < model->nthreads; i++)
        keys[i] =
            (struct jr_scope_key){.scope = JR_SCOPE_THREAD,
                                  .process = model->threads[i].process,
                                  .tid = model->threads[i].tid,
                                  .weight_ns = model->threads[i].weight_ns,
                                  .samples = model->threads[i].samples};
    jr_part_name_threads(model, keys, model->nthreads);
    return keys;
}

const char **jr_export_files(const struct jr_model *model)
{
    const char **files = jr_alloc(model->nfunctions + 1, sizeof(*files));

    for (size_t i = 0; i < model->places.count; i++) {
        const struct jr_place *place = &model->places.items[i];
        const uint32_t function = model->tiers[place->tier].function;

        if (!files[function])
            files[function] = place->file;
    }
    return files;
}

uint32_t jr_export_line(const struct jr_model *model,
                        const struct jr_place *place, const char **files)
{
    const char *file = files[model->tiers[place->tier].function];

    return file && place->file == file ? place->line : 0;
}

char *jr_export_name(const struct jr_function *function)
{
    return function->tier ? jr_printf("%s [%s]", function->name, function->tier)
                          : jr_strdup(function->name);
}

char *jr_export_clean(const char *text)
{
    char *copy = NULL;
    size_t size;
    FILE *stream = open_memstream(&copy, &size);

    if (stream == NULL)
        jr_no_memory();
    jr_put_text(stream, text);
    if (fclose(stream) != 0)
        jr_no_memory();
    return copy;
}

int jr_export_is_real(const struct jr_model *model)
{
    return model->times.nthreads > 0;
}

int jr_export_is_cpu(unsigned event)
{
    return event == JP_EVENT_CPU || event == JP_EVENT_WALL_RUNNING;
}

uint64_t jr_export_begin_ns(const struct jr_process *process)
{
    const struct jr_run *run = process->run;
    const uint64_t first_ns = run->first_ns, period_ns = run->header.period_ns;
    uint64_t begin_ns = run->header.mono_ns;

    if (process->map->begin_ns != 0 && process->map->begin_ns < begin_ns)
        begin_ns = process->map->begin_ns;
    /* The log is made at the first sample, which stands for time before. */
    if (first_ns > period_ns && first_ns - period_ns < begin_ns)
        begin_ns = first_ns - period_ns;
    return begin_ns;
}

uint64_t jr_export_real_ns(const struct jr_process *process)
{
    const struct jp_log_header *header = &process->run->header;
    const uint64_t before = header->mono_ns - jr_export_begin_ns(process);

    return header->real_ns > before ? header->real_ns - before : 0;
}

uint64_t jr_export_start_ns(const struct jr_model *model)
{
    uint64_t least = 0;

    for (size_t i = 0; i < model->nprocesses; i++) {
        const uint64_t real_ns = jr_export_real_ns(&model->processes[i]);

        if (real_ns != 0 && (least == 0 || real_ns < least))
            least = real_ns;
    }
    return least;
}

char **jr_export_lines(const struct jr_report *report, size_t *count)
{
    struct jr_facts facts = {0};
    char **lines;

    *count = 0;
    jr_facts_about(report, &facts);
    jr_facts_quality(report, &facts);
    lines = jr_alloc(facts.count + report->nnotes + 1, sizeof(*lines));
    for (size_t i = 0; i < facts.count; i++)
        lines[(*count)++] =
            jr_printf("%s: %s", facts.items[i].label, facts.items[i].text);
    for (size_t i = 0; i < report->nnotes; i++)
        lines[(*count)++] = jr_printf("Note: %s", report->notes[i]);
    jr_facts_free(&facts);
    return lines;
}

void jr_export_free_lines(char **lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(lines[i]);
    free(lines);
}
