/* SPDX-License-Identifier: MIT
 *
 * Markers for the Firefox Profiler: sections of the profile, and the marks of
 * the program.
 * Runs in: analyzer. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"
#include "firefox.h"

/* Marker.phase (firefox-devtools/profiler, src/types/gecko-profile.ts). */
enum { PHASE_INSTANT = 0, PHASE_INTERVAL };

#define SECTION "jprof-section"
#define MARK "jprof-mark"

static void open_kind(struct jr_json *json, const char *name, const char *label)
{
    static const char *const places[] = {"marker-chart", "marker-table",
                                         "timeline-overview"};

    jr_json_open(json, '{');
    jr_json_key_string(json, "name", name);
    jr_json_key_string(json, "tableLabel", label);
    jr_json_key(json, "display");
    jr_json_open(json, '[');
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        jr_json_string(json, places[i]);
    jr_json_close(json, ']');
    jr_json_key(json, "fields");
    jr_json_open(json, '[');
}

static void close_kind(struct jr_json *json)
{
    jr_json_close(json, ']');
    jr_json_close(json, '}');
}

void jr_firefox_schema(struct jr_json *json)
{
    jr_json_key(json, "markerSchema");
    jr_json_open(json, '[');
    open_kind(json, SECTION, "section {marker.data.n}");
    jr_json_open(json, '{');
    jr_json_key_string(json, "key", "n");
    jr_json_key_string(json, "label", "Number");
    jr_json_key_string(json, "format", "integer");
    jr_json_close(json, '}');
    close_kind(json);
    open_kind(json, MARK, "{marker.name}");
    close_kind(json);
    jr_json_close(json, ']');
}

/* By mark: the thread that gave it, or, where that has no samples, the first
 * one of its process; nthreads: the process has none. */
static uint32_t *find_threads(const struct jr_model *model)
{
    const uint32_t none = (uint32_t)model->nthreads;
    uint32_t *threads = jr_alloc(model->marks.count + 1, sizeof(*threads));
    uint32_t *first = jr_alloc(model->nprocesses + 1, sizeof(*first));
    struct jr_table table = {0};

    for (size_t i = 0; i < model->nprocesses; i++)
        first[i] = none;
    for (uint32_t i = none; i-- > 0;) {
        first[model->threads[i].process] = i;
        jr_table_put(&table, model->threads[i].process, model->threads[i].tid,
                     i);
    }
    for (size_t i = 0; i < model->marks.count; i++) {
        const struct jr_marked *mark = &model->marks.items[i];

        threads[i] = jr_table_put(&table, mark->process, mark->tid,
                                  first[mark->process]);
    }
    jr_table_free(&table);
    free(first);
    return threads;
}

void jr_firefox_order_marks(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    const size_t count = model->marks.count;
    uint32_t *threads = find_threads(model);
    size_t *next = jr_alloc(model->nthreads + 2, sizeof(*next));

    firefox->first_mark = jr_alloc(model->nthreads + 2, sizeof(*next));
    firefox->marks = jr_alloc(count + 1, sizeof(*firefox->marks));
    for (size_t i = 0; i < count; i++)
        firefox->first_mark[threads[i] + 1]++;
    for (size_t i = 0; i <= model->nthreads; i++)
        next[i + 1] = firefox->first_mark[i + 1] += firefox->first_mark[i];
    for (size_t i = 0; i < count; i++)
        firefox->marks[next[threads[i]]++] = (uint32_t)i;
    free(next);
    free(threads);
}

/* Where each section ends: at its pause, else where the next one starts; 0:
 * with the profile.  The caller frees the array. */
static uint64_t *section_ends(const struct jr_map *map)
{
    uint64_t *ends = jr_alloc(map->nsections + 1, sizeof(*ends));
    size_t pause = 0;

    for (size_t i = 0; i < map->nsections; i++) {
        const uint64_t start = map->sections[i].time_ns;

        if (i + 1 < map->nsections)
            ends[i] = map->sections[i + 1].time_ns;
        while (pause < map->npauses && map->pauses[pause].time_ns < start)
            pause++;
        if (pause < map->npauses &&
            (ends[i] == 0 || map->pauses[pause].time_ns < ends[i]))
            ends[i] = map->pauses[pause].time_ns;
    }
    return ends;
}

/* A row of the table of markers. */
struct row {
    const char *type;
    uint64_t start_ns, end_ns; /* end: 0 where there is none */
    size_t name, section;
    uint8_t phase;
};

static void put_row(struct jr_firefox *firefox, uint32_t process,
                    const struct row *row, size_t column)
{
    struct jr_json *json = &firefox->json;

    switch (column) {
    case 0:
        jr_json_open(json, '{');
        jr_json_key_string(json, "type", row->type);
        if (row->type[sizeof("jprof-") - 1] == 's')
            jr_json_key_uint(json, "n", row->section);
        jr_json_close(json, '}');
        break;
    case 1:
        jr_json_uint(json, row->name);
        break;
    case 2:
    case 3:
        if (column == 3 && row->end_ns == 0)
            jr_json_word(json, "null");
        else
            jr_json_ms(json, jr_order_since(&firefox->order, process,
                                            column == 2 ? row->start_ns
                                                        : row->end_ns));
        break;
    default:
        jr_json_uint(json, column == 4 ? row->phase : JR_CATEGORY_OTHER);
    }
}

static struct row mark_row(const struct jr_marked *mark, size_t names)
{
    const int has_end =
        mark->kind == JR_MARKED_SPAN || mark->kind == JR_MARKED_OPEN;

    return (struct row){.type = MARK,
                        .start_ns = mark->time_ns,
                        .end_ns = has_end ? mark->until_ns : 0,
                        .name = names + 1 + mark->name,
                        .phase = has_end ? PHASE_INTERVAL : PHASE_INSTANT};
}

void jr_firefox_markers(struct jr_firefox *firefox, uint32_t thread,
                        int is_main)
{
    static const char *const columns[] = {"data",    "name",  "startTime",
                                          "endTime", "phase", "category"};
    const struct jr_model *model = firefox->model;
    const uint32_t process = model->threads[thread].process;
    const struct jr_map *map = model->processes[process].map;
    const size_t sections = is_main ? map->nsections : 0;
    const size_t first = firefox->first_mark[thread];
    const size_t count = firefox->first_mark[thread + 1] - first + sections;
    const size_t names = model->nfunctions + firefox->nsources + firefox->nlibs;
    struct jr_json *json = &firefox->json;
    uint64_t *ends = section_ends(map);

    jr_json_key(json, "markers");
    jr_json_open(json, '{');
    jr_json_key_uint(json, "length", count);
    for (size_t column = 0; column < 6; column++) {
        jr_json_key(json, columns[column]);
        jr_json_open(json, '[');
        for (size_t i = 0; i < count; i++) {
            struct row row;

            if (i < sections)
                row = (struct row){
                    SECTION, map->sections[i].time_ns,
                    ends[i], names,
                    i,       ends[i] ? PHASE_INTERVAL : PHASE_INSTANT};
            else
                row = mark_row(
                    &model->marks.items[firefox->marks[first + i - sections]],
                    names);
            put_row(firefox, process, &row, column);
        }
        jr_json_close(json, ']');
    }
    jr_json_close(json, '}');
    free(ends);
}
