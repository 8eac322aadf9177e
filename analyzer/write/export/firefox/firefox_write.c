/* SPDX-License-Identifier: MIT
 *
 * Processed profiles for the Firefox Profiler (firefox-devtools/profiler,
 * src/types/profile.ts and docs-developer/CHANGELOG-formats.md): what the
 * profile is, and its threads with samples and markers.
 * Runs in: analyzer. */
#include "firefox.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "jp_limits.h"
#include "model/scope.h"
#include "write/facts.h"
#include "write/program.h"

/* Readers upgrade older versions; one that is newer than theirs they refuse. */
#define GECKO_VERSION 24
#define PROCESSED_VERSION 66
#define VISIBLE_MOST 15 /* threads that are shown at first */

static void put_categories(struct jr_firefox *firefox)
{
    static const struct {
        const char *name, *color;
    } categories[JR_CATEGORY_COUNT] = {
        [JR_CATEGORY_OTHER] = {"Other", "grey"},
        [JR_CATEGORY_NATIVE] = {"Native", "yellow"},
        [JR_CATEGORY_JIT] = {"JIT", "green"},
        /* Readers leave out what has this name. */
        [JR_CATEGORY_IDLE] = {"Idle", "transparent"},
    };
    struct jr_json *json = &firefox->json;

    jr_json_key(json, "categories");
    jr_json_open(json, '[');
    for (size_t i = 0; i < JR_CATEGORY_COUNT; i++) {
        jr_json_open(json, '{');
        jr_json_key_string(json, "name", categories[i].name);
        jr_json_key_string(json, "color", categories[i].color);
        jr_json_key(json, "subcategories");
        jr_json_open(json, '[');
        jr_json_string(json, "Other");
        for (size_t j = 0; i == JR_CATEGORY_JIT && j < firefox->nsubcategories;
             j++)
            jr_json_string(json, firefox->subcategories[j]);
        if (i == JR_CATEGORY_IDLE) {
            jr_json_string(json, "Blocked");
            jr_json_string(json, "Waiting for a CPU");
        }
        jr_json_close(json, ']');
        jr_json_close(json, '}');
    }
    jr_json_close(json, ']');
}

/* What the profile is about and worth, where the reader shows it. */
static void put_extra(struct jr_firefox *firefox)
{
    struct jr_json *json = &firefox->json;
    struct jr_facts facts = {0};

    jr_facts_about(firefox->report, &facts);
    jr_facts_quality(firefox->report, &facts);
    jr_json_key(json, "extra");
    jr_json_open(json, '[');
    jr_json_open(json, '{');
    jr_json_key_string(json, "label", "jprof");
    jr_json_key(json, "entries");
    jr_json_open(json, '[');
    for (size_t i = 0; i < facts.count + firefox->report->nnotes; i++) {
        const int is_fact = i < facts.count;

        jr_json_open(json, '{');
        jr_json_key_string(json, "label",
                           is_fact ? facts.items[i].label : "Note");
        jr_json_key_string(json, "format", "string");
        jr_json_key_string(json, "value",
                           is_fact ? facts.items[i].text
                                   : firefox->report->notes[i - facts.count]);
        jr_json_close(json, '}');
    }
    jr_json_close(json, ']');
    jr_json_close(json, '}');
    jr_json_close(json, ']');
    jr_facts_free(&facts);
}

static int heavier(const struct jr_model *model, uint32_t a, uint32_t b)
{
    return model->threads[a].weight_ns > model->threads[b].weight_ns;
}

/* The heaviest threads are shown, and of them the heaviest is selected. */
static void put_visible(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    struct jr_json *json = &firefox->json;
    uint32_t most[VISIBLE_MOST];
    size_t count = 0;

    for (uint32_t i = 0; i < model->nthreads; i++) {
        size_t at = count;

        if (count < VISIBLE_MOST)
            count++;
        else if (heavier(model, i, most[count - 1]))
            at = count - 1;
        else
            continue;
        for (; at > 0 && heavier(model, i, most[at - 1]); at--)
            most[at] = most[at - 1];
        most[at] = i;
    }
    jr_json_key(json, "initialVisibleThreads");
    jr_json_open(json, '[');
    for (size_t i = 0; i < count; i++)
        jr_json_uint(json, most[i]);
    jr_json_close(json, ']');
    jr_json_key(json, "initialSelectedThreads");
    jr_json_open(json, '[');
    if (count > 0)
        jr_json_uint(json, most[0]);
    jr_json_close(json, ']');
}

static void put_units(struct jr_json *json)
{
    jr_json_key(json, "sampleUnits");
    jr_json_open(json, '{');
    jr_json_key_string(json, "time", "ms");
    jr_json_key_string(json, "eventDelay", "ms");
    jr_json_key_string(json, "threadCPUDelta", "\xc2\xb5s");
    jr_json_close(json, '}');
}

static void put_meta(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    struct jr_json *json = &firefox->json;
    char *program = jr_program_text(firefox->report);
    char *command = jr_program_command(firefox->report);

    jr_json_key(json, "meta");
    jr_json_open(json, '{');
    /* Readers end the profile an interval after the last sample. */
    jr_json_key(json, "interval");
    jr_json_ms(json, model->period_ns > 1000 ? model->period_ns : 1000);
    jr_json_key(json, "startTime");
    jr_json_ms(json, jr_export_start_ns(model));
    jr_json_key_uint(json, "processType", 0);
    jr_json_key_string(json, "product", program);
    jr_json_key_uint(json, "stackwalk", 1);
    jr_json_key_uint(json, "version", GECKO_VERSION);
    jr_json_key_uint(json, "preprocessedProfileVersion", PROCESSED_VERSION);
    jr_json_key_word(json, "symbolicated", "true");
    jr_json_key_word(json, "sourceCodeIsNotOnSearchfox", "true");
    jr_json_key_word(json, "usesOnlyOneStackType", "true");
    jr_json_key_string(json, "importedFrom", "jprof " JP_VERSION);
    jr_json_key_string(json, "arguments", command);
    jr_json_key_string(json, "oscpu", "Linux");
    put_categories(firefox);
    jr_firefox_schema(json);
    put_units(json);
    put_visible(firefox);
    put_extra(firefox);
    jr_json_close(json, '}');
    free(program);
    free(command);
}

/* Microseconds; 1e3 is a byte less than 1000. */
static void put_us(struct jr_json *json, uint64_t ns)
{
    const uint64_t us = ns / 1000;
    const int is_round = us > 0 && us % 1000 == 0;

    jr_json_uint(json, is_round ? us / 1000 : us);
    if (is_round)
        fputs("e3", json->out);
}

/* Each column goes through the samples of its thread once more. */
static void open_column(struct jr_firefox *firefox, const char *name,
                        uint32_t thread)
{
    jr_json_key(&firefox->json, name);
    jr_json_open(&firefox->json, '[');
    jr_again_thread(firefox->order.again, thread);
}

/* The columns of a thread's samples.  Times are rounded before they are
 * subtracted, so that no error adds up. */
static void put_samples(struct jr_firefox *firefox, uint32_t thread)
{
    const struct jr_model *model = firefox->model;
    const struct jr_order *order = &firefox->order;
    const uint32_t process = model->threads[thread].process;
    struct jr_json *json = &firefox->json;
    const struct jr_seen *seen;
    uint64_t before_us = 0;

    jr_json_key(json, "samples");
    jr_json_open(json, '{');
    jr_json_key_uint(json, "length", model->threads[thread].samples);
    jr_json_key_string(json, "weightType", "tracing-ms");
    open_column(firefox, "stack", thread);
    while ((seen = jr_again_next(order->again)) != NULL) {
        const int64_t stack = jr_firefox_stack(firefox, seen);

        if (stack < 0)
            jr_json_word(json, "null");
        else
            jr_json_uint(json, (uint64_t)stack);
    }
    jr_json_close(json, ']');
    open_column(firefox, "timeDeltas", thread);
    while ((seen = jr_again_next(order->again)) != NULL) {
        const uint64_t us =
            jr_order_since(order, process, seen->time_ns) / 1000;

        jr_json_ms(json, (us - before_us) * 1000);
        before_us = us;
    }
    jr_json_close(json, ']');
    open_column(firefox, "weight", thread);
    while ((seen = jr_again_next(order->again)) != NULL)
        jr_json_ms(json,
                   jr_firefox_round(firefox, seen, firefox->weight_rests));
    jr_json_close(json, ']');
    open_column(firefox, "threadCPUDelta", thread);
    while ((seen = jr_again_next(order->again)) != NULL)
        put_us(json, jr_export_is_cpu(seen->event)
                         ? jr_firefox_round(firefox, seen, firefox->cpu_rests)
                         : 0);
    jr_json_close(json, ']');
    jr_json_close(json, '}');
}

/* When the profile rested. */
static void put_pauses(struct jr_firefox *firefox, uint32_t process)
{
    const struct jr_map *map = firefox->model->processes[process].map;
    const struct jr_order *order = &firefox->order;
    struct jr_json *json = &firefox->json;
    size_t next = 0;

    jr_json_key(json, "pausedRanges");
    jr_json_open(json, '[');
    for (size_t i = 0; i < map->npauses; i++) {
        const uint64_t pause = map->pauses[i].time_ns;

        while (next < map->nsections && map->sections[next].time_ns < pause)
            next++;
        jr_json_open(json, '{');
        jr_json_key(json, "startTime");
        jr_json_ms(json, jr_order_since(order, process, pause));
        jr_json_key(json, "endTime");
        if (next < map->nsections)
            jr_json_ms(json, jr_order_since(order, process,
                                            map->sections[next].time_ns));
        else
            jr_json_word(json, "null");
        jr_json_key_string(json, "reason", "profiler-paused");
        jr_json_close(json, '}');
    }
    jr_json_close(json, ']');
}

static void put_key_ms(struct jr_json *json, const char *key, uint64_t ns)
{
    jr_json_key(json, key);
    jr_json_ms(json, ns);
}

/* Of processes that had one pid after each other, on several machines maybe,
 * the later ones get a number of their own. */
static char *pid_text(const struct jr_model *model, uint32_t process)
{
    const uint32_t pid = model->processes[process].run->header.pid;

    for (uint32_t i = 0; i < process; i++)
        if (model->processes[i].run->header.pid == pid)
            return jr_printf("%" PRIu32 ".%" PRIu32, pid, process);
    return jr_printf("%" PRIu32, pid);
}

static void put_thread(struct jr_firefox *firefox,
                       const struct jr_scope_key *key, uint32_t number,
                       const char *pid)
{
    const struct jr_model *model = firefox->model;
    const struct jr_process *process = &model->processes[key->process];
    const struct jr_order *order = &firefox->order;
    const int is_main = key->tid == process->run->header.pid;
    struct jr_json *json = &firefox->json;
    const char *host = jr_hosts_name(&firefox->hosts, key->process);
    char *name = jr_process_name(process);
    char *where =
        jr_printf("%s%s%s", name, host ? " on " : "", host ? host : "");

    jr_json_open(json, '{');
    jr_json_key_string(json, "name",
                       key->name && *key->name ? key->name : name);
    jr_json_key_string(json, "processName", where);
    jr_json_key_string(json, "processType", "default");
    jr_json_key_word(json, "isMainThread", is_main ? "true" : "false");
    jr_json_key_string(json, "pid", pid);
    jr_json_key_uint(json, "tid", key->tid);
    jr_json_key_word(json, "showMarkersInTimeline", is_main ? "true" : "false");
    put_key_ms(json, "processStartupTime",
               jr_order_since(order, key->process, process->map->begin_ns));
    jr_json_key(json, "processShutdownTime");
    if (process->map->exited)
        jr_json_ms(json,
                   jr_order_since(order, key->process, process->map->end_ns));
    else
        jr_json_word(json, "null");
    put_key_ms(
        json, "registerTime",
        jr_order_since(order, key->process, model->threads[number].first_ns));
    jr_json_key_word(json, "unregisterTime", "null");
    put_pauses(firefox, key->process);
    put_samples(firefox, number);
    jr_firefox_markers(firefox, number, is_main);
    jr_json_close(json, '}');
    free(where);
    free(name);
}

static void put_threads(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    struct jr_scope_key *keys = jr_export_threads(model);
    struct jr_json *json = &firefox->json;
    char *pid = NULL;

    jr_json_key(json, "threads");
    jr_json_open(json, '[');
    for (uint32_t i = 0; i < model->nthreads; i++) {
        if (i == 0 || keys[i].process != keys[i - 1].process) {
            free(pid);
            pid = pid_text(model, keys[i].process);
        }
        put_thread(firefox, &keys[i], i, pid);
    }
    jr_json_close(json, ']');
    free(pid);
    free(keys);
}

void jr_write_firefox(const struct jr_report *report, FILE *out)
{
    struct jr_firefox firefox = {
        .report = report, .model = report->model, .json = {.out = out}};

    jr_order_make(report->model, NULL, &firefox.order);
    jr_hosts_find(report->model, &firefox.hosts);
    jr_firefox_number(&firefox);
    jr_firefox_order_marks(&firefox);
    jr_json_open(&firefox.json, '{');
    put_meta(&firefox);
    jr_firefox_libs(&firefox);
    jr_firefox_shared(&firefox);
    put_threads(&firefox);
    jr_json_close(&firefox.json, '}');
    putc('\n', out);
    jr_firefox_free(&firefox);
    jr_order_free(report, &firefox.order);
    jr_hosts_free(&firefox.hosts);
}
