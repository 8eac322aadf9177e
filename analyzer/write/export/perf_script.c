/* SPDX-License-Identifier: MIT
 *
 * The text that `perf script` writes, which many tools read: each sample with
 * its stack, leaf first, in the order of time of its process.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export.h"
#include "model/scope.h"
#include "order.h"
#include "write/escape.h"
#include "write/facts.h"

#define NS_A_SECOND 1000000000U
#define LINES_MOST ((size_t)32 << 20) /* bytes of lines that are kept */

/* The line of a place. */
struct line {
    char *text; /* NULL: it is made when it is written */
    size_t size;
};

struct script {
    const struct jr_model *model;
    FILE *out;
    char **names;                /* by thread */
    char **functions, **objects; /* by their numbers in the model */
    struct line *lines;          /* by place */
    size_t kept;                 /* bytes of lines */
    struct jr_order order;
    const char *event;
};

/* A text, as UTF-8, in which nothing is a blank: readers end a field there.
 * The caller frees it. */
static char *one_word(const char *text)
{
    char *word = jr_export_clean(text);

    for (char *at = word; *at; at++)
        if (*at == ' ')
            *at = '_';
    return word;
}

static char **name_threads(const struct jr_model *model)
{
    struct jr_scope_key *keys = jr_export_threads(model);
    char **names = jr_alloc(model->nthreads + 1, sizeof(*names));

    for (size_t i = 0; i < model->nthreads; i++) {
        char *name = jr_process_name(&model->processes[keys[i].process]);

        names[i] =
            one_word(keys[i].name && *keys[i].name ? keys[i].name : name);
        free(name);
    }
    free(keys);
    return names;
}

/* An offset comes behind each name: some readers would take the end of one as
 * "libc.so.6+0x1000" for it. */
static char *make_line(const struct script *script, uint32_t number)
{
    const struct jr_model *model = script->model;
    const struct jr_place *place = &model->places.items[number];

    return jr_printf(
        "\t%16" PRIx64 " %s+0x0 (%s)\n", jr_export_address(model, place),
        script->functions[model->tiers[place->tier].function],
        place->inlined ? "inlined" : script->objects[place->object]);
}

/* A place stands in many stacks: its line is kept, as long as all that are
 * kept are not too long. */
static void put_frame(struct script *script, uint32_t node)
{
    const uint32_t place = script->model->nodes.items[node].key;
    struct line *line = &script->lines[place];

    if (line->text == NULL) {
        char *text = make_line(script, place);
        const size_t size = strlen(text);

        if (size > LINES_MOST - script->kept) {
            fwrite_unlocked(text, 1, size, script->out);
            free(text);
            return;
        }
        script->kept += size;
        *line = (struct line){text, size};
    }
    fwrite_unlocked(line->text, 1, line->size, script->out);
}

static void free_all(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

/* Makes the texts that many lines have. */
static void make_texts(struct script *script)
{
    const struct jr_model *model = script->model;

    script->functions =
        jr_alloc(model->nfunctions + 1, sizeof(*script->functions));
    for (size_t i = 0; i < model->nfunctions; i++) {
        char *name = jr_export_name(&model->functions[i]);

        script->functions[i] = jr_export_clean(name);
        free(name);
    }
    script->objects =
        jr_alloc(model->places.nobjects + 1, sizeof(*script->objects));
    for (size_t i = 0; i < model->places.nobjects; i++) {
        const char *path = model->places.objects[i].path;

        script->objects[i] = one_word(*path ? path : "[unknown]");
    }
}

static void put_sample(struct script *script, const struct jr_seen *seen)
{
    const struct jr_model *model = script->model;
    const struct jr_thread *thread = &model->threads[seen->thread];
    const uint64_t time =
        jr_order_since(&script->order, thread->process, seen->time_ns);

    fprintf(script->out,
            "%s %" PRIu32 "/%" PRIu32 " [000] %" PRIu64 ".%09u: %" PRIu64
            " %s:u:\n",
            script->names[seen->thread],
            model->processes[thread->process].run->header.pid, thread->tid,
            time / NS_A_SECOND, (unsigned)(time % NS_A_SECOND), seen->weight_ns,
            script->event);
    for (uint32_t node = seen->node; node != 0;
         node = model->nodes.items[node].parent)
        put_frame(script, node);
    putc('\n', script->out);
}

static void put_samples(struct script *script)
{
    struct jr_again *again = script->order.again;
    const struct jr_seen *seen;

    for (uint32_t i = 0; i < script->model->nprocesses; i++) {
        jr_again_process(again, i);
        while ((seen = jr_again_next(again)) != NULL)
            put_sample(script, seen);
    }
}

void jr_write_perf_script(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    struct script script = {
        .model = model,
        .out = out,
        .names = name_threads(model),
        /* One event for all: readers of one take the first, and no other. */
        .event = jr_export_is_real(model) ? "wall-clock" : "cpu-clock"};
    size_t count;
    char **lines = jr_export_lines(report, &count);

    for (size_t i = 0; i < count; i++) {
        fputs("# ", out);
        jr_put_text(out, lines[i]);
        putc('\n', out);
    }
    if (count > 0)
        fputs("#\n", out);
    make_texts(&script);
    jr_order_make(model, NULL, &script.order);
    script.lines = jr_alloc(model->places.count + 1, sizeof(*script.lines));
    put_samples(&script);
    for (size_t i = 0; i < model->places.count; i++)
        free(script.lines[i].text);
    free(script.lines);
    free_all(script.names, model->nthreads);
    free_all(script.functions, model->nfunctions);
    free_all(script.objects, model->places.nobjects);
    jr_export_free_lines(lines, count);
    jr_order_free(report, &script.order);
}
