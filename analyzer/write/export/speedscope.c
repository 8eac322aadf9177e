/* SPDX-License-Identifier: MIT
 *
 * speedscope's own format (jlfwong/speedscope, src/lib/file-format-spec.ts): a
 * profile a thread, with its samples in order of time.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export.h"
#include "jp_limits.h"
#include "json_writer.h"
#include "model/scope.h"
#include "order.h"
#include "write/facts.h"
#include "write/program.h"
#include "write/who.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct scope {
    const struct jr_report *report;
    const struct jr_model *model;
    struct jr_json json;
    struct jr_order order;
    struct jr_hosts hosts;
    struct jr_scope_key *threads; /* as in the model */
    uint32_t *sequence;           /* threads, the busiest first */
    uint32_t *path;               /* scratch */
    size_t path_room;
};

/* Samples of equal stacks that follow each other. */
struct run {
    uint32_t node; /* 0: the thread used no time of the kind that is shown */
    uint64_t weight_ns;
};

typedef void put_run_fn(struct scope *scope, const struct run *run);

/* A thread's runs while they are gone through: one is held at a time. */
struct runs {
    put_run_fn *put; /* NULL: only the axis is asked for */
    struct run last;
    int has_last;
    uint64_t start_ns, end_ns; /* of the thread's axis */
};

/* A frame a function: one of its lines would make another function of it. */
static void put_frames(struct scope *scope)
{
    const struct jr_model *model = scope->model;
    const char **files = jr_export_files(model);
    struct jr_json *json = &scope->json;

    jr_json_key(json, "frames");
    jr_json_open(json, '[');
    for (size_t i = 0; i < model->nfunctions; i++) {
        const struct jr_function *function = &model->functions[i];
        char *name = jr_export_name(function);

        jr_json_open(json, '{');
        jr_json_key_string(json, "name", name);
        if (files[i])
            jr_json_key_string(json, "file", files[i]);
        else if (*function->module)
            jr_json_key_string(json, "file", function->module);
        jr_json_close(json, '}');
        free(name);
    }
    jr_json_close(json, ']');
    free(files);
}

/* Whether two paths are of the same functions, at whatever addresses. */
static int are_equal(const struct jr_model *model, uint32_t a, uint32_t b)
{
    while (a != b && a != 0 && b != 0 &&
           jr_node_function(model, a) == jr_node_function(model, b)) {
        a = model->nodes.items[a].parent;
        b = model->nodes.items[b].parent;
    }
    return a == b;
}

static void put_last(struct scope *scope, const struct runs *runs)
{
    if (runs->has_last && runs->put)
        runs->put(scope, &runs->last);
}

static void add_run(struct scope *scope, struct runs *runs, uint32_t node,
                    uint64_t weight_ns)
{
    runs->end_ns = jr_add(runs->end_ns, weight_ns);
    if (runs->has_last && are_equal(scope->model, runs->last.node, node)) {
        runs->last.weight_ns = jr_add(runs->last.weight_ns, weight_ns);
        return;
    }
    put_last(scope, runs);
    runs->last = (struct run){node, weight_ns};
    runs->has_last = 1;
}

/* A sample stands for the time before it.  What is missing before that by a
 * period or more is a gap, an empty stack. */
static struct runs each_run(struct scope *scope, uint32_t thread,
                            put_run_fn *put)
{
    const struct jr_model *model = scope->model;
    const struct jr_order *order = &scope->order;
    const uint32_t process = model->threads[thread].process;
    struct runs runs = {.put = put};
    const struct jr_seen *seen;
    int is_first = 1;

    jr_again_thread(order->again, thread);
    while ((seen = jr_again_next(order->again)) != NULL) {
        const uint64_t time = jr_order_since(order, process, seen->time_ns);
        const uint64_t from =
            time > seen->weight_ns ? time - seen->weight_ns : 0;

        if (is_first)
            runs.start_ns = runs.end_ns = from;
        else if (from > runs.end_ns && from - runs.end_ns >= model->period_ns)
            add_run(scope, &runs, 0, from - runs.end_ns);
        is_first = 0;
        add_run(scope, &runs, seen->node, seen->weight_ns);
    }
    put_last(scope, &runs);
    return runs;
}

/* The frames of a path, root first. */
static void put_path(struct scope *scope, const struct run *run)
{
    const struct jr_model *model = scope->model;
    size_t count = 0;

    for (uint32_t at = run->node; at != 0; at = model->nodes.items[at].parent)
        *JR_PUSH(scope->path, count, scope->path_room) =
            jr_node_function(model, at);
    jr_json_open(&scope->json, '[');
    while (count > 0)
        jr_json_uint(&scope->json, scope->path[--count]);
    jr_json_close(&scope->json, ']');
}

static void put_weight(struct scope *scope, const struct run *run)
{
    jr_json_uint(&scope->json, run->weight_ns);
}

static void put_samples(struct scope *scope, uint32_t thread)
{
    struct jr_json *json = &scope->json;

    jr_json_key(json, "samples");
    jr_json_open(json, '[');
    (void)each_run(scope, thread, put_path);
    jr_json_close(json, ']');
    jr_json_key(json, "weights");
    jr_json_open(json, '[');
    (void)each_run(scope, thread, put_weight);
    jr_json_close(json, ']');
}

/* "worker (tid 12)", with its process where there are several, and its machine
 * likewise. */
static char *title_of(const struct scope *scope, uint32_t thread)
{
    const struct jr_model *model = scope->model;
    const struct jr_scope_key *key = &scope->threads[thread];
    const struct jr_process *process = &model->processes[key->process];
    const char *host = jr_hosts_name(&scope->hosts, key->process);
    char *name = jr_process_name(process), *title;

    if (model->nprocesses > 1)
        title = jr_printf(
            "%s (pid %" PRIu32 "%s%s): %s (tid %" PRIu32 ")", name,
            process->run->header.pid, host ? " on " : "", host ? host : "",
            key->name && *key->name ? key->name : "thread", key->tid);
    else
        title = jr_printf("%s (tid %" PRIu32 ")",
                          key->name && *key->name ? key->name : name, key->tid);
    free(name);
    return title;
}

static void put_thread(struct scope *scope, uint32_t thread)
{
    struct jr_json *json = &scope->json;
    char *title = title_of(scope, thread);
    const struct runs axis = each_run(scope, thread, NULL);

    jr_json_open(json, '{');
    jr_json_key_string(json, "type", "sampled");
    jr_json_key_string(json, "name", title);
    jr_json_key_string(json, "unit", "nanoseconds");
    jr_json_key_uint(json, "startValue", axis.start_ns);
    jr_json_key_uint(json, "endValue", axis.end_ns);
    put_samples(scope, thread);
    jr_json_close(json, '}');
    free(title);
}

static int compare_threads(const void *left, const void *right, void *data)
{
    const struct jr_model *model = data;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const uint64_t x = model->threads[a].weight_ns,
                   y = model->threads[b].weight_ns;

    if (x != y)
        return x > y ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void order_threads(struct scope *scope)
{
    const struct jr_model *model = scope->model;

    for (uint32_t i = 0; i < model->nthreads; i++)
        scope->sequence[i] = i;
    qsort_r(scope->sequence, model->nthreads, sizeof(*scope->sequence),
            compare_threads, (void *)model);
}

/* Writes the threads; returns where the first process's main thread is. */
static size_t put_threads(struct scope *scope)
{
    const struct jr_model *model = scope->model;
    size_t main_thread = 0;

    jr_json_key(&scope->json, "profiles");
    jr_json_open(&scope->json, '[');
    for (size_t i = 0; i < model->nthreads; i++) {
        const struct jr_thread *thread = &model->threads[scope->sequence[i]];

        if (thread->process == 0 &&
            thread->tid == model->processes[0].run->header.pid)
            main_thread = i;
        put_thread(scope, scope->sequence[i]);
    }
    jr_json_close(&scope->json, ']');
    return main_thread;
}

void jr_write_speedscope(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    struct scope scope = {.report = report,
                          .model = model,
                          .json = {.out = out},
                          .threads = jr_export_threads(model),
                          .sequence =
                              jr_alloc(model->nthreads + 1, sizeof(uint32_t))};
    struct jr_json *json = &scope.json;
    char *name = jr_program_text(report);
    size_t main_thread;

    order_threads(&scope);
    jr_order_make(model, scope.sequence, &scope.order);
    jr_hosts_find(model, &scope.hosts);
    jr_json_open(json, '{');
    jr_json_key_string(json, "$schema", SCHEMA);
    jr_json_key_string(json, "name", name);
    jr_json_key_string(json, "exporter", "jprof " JP_VERSION);
    jr_json_key(json, "shared");
    jr_json_open(json, '{');
    put_frames(&scope);
    jr_json_close(json, '}');
    main_thread = put_threads(&scope);
    jr_json_key_uint(json, "activeProfileIndex", main_thread);
    jr_json_close(json, '}');
    putc('\n', out);
    jr_order_free(report, &scope.order);
    jr_hosts_free(&scope.hosts);
    free(name);
    free(scope.threads);
    free(scope.sequence);
    free(scope.path);
}
