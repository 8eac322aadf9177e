/* SPDX-License-Identifier: MIT
 *
 * Pprof profiles (google/pprof, proto/profile.proto); numbers of fields are
 * those of that file.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "jp_log.h"
#include "foreign.h"
#include "wire.h"

#define TYPES_MAX 64U                 /* types of samples */
#define ITEMS_MAX ((size_t)1 << 23)   /* messages of a kind, and strings; */
#define SAMPLES_MAX ((size_t)1 << 25) /* a file may be gzipped nothing */
#define FRAMES_MAX ITEMS_MAX          /* of all places: 2 bytes make one */
#define LABELS_MAX 64U
#define PERIOD_NS 10000000ULL /* Go's, where the file has none */

/* Messages of one kind, as they stand in the file. */
struct messages {
    struct jr_wire *items;
    size_t count, room;
    uint8_t holds_samples, is_full;
};

struct mapping {
    struct jr_slice file;
};

struct function {
    struct jr_slice name, raw, file;
};

struct reading {
    struct jr_foreign *foreign;
    struct jr_slice *strings;
    size_t nstrings, strings_room;
    struct messages types, samples, mappings, locations, functions;
    /* Numbers of items by their ids. */
    struct jr_table by_mapping, by_location, by_function;
    struct mapping *all_mappings;
    struct function *all_functions;
    uint64_t default_type, period, period_type[2];
    uint64_t comments[LABELS_MAX];
    size_t ncomments;
    uint32_t value;            /* index of the type that is read */
    uint64_t unit_ns;          /* of it */
    uint8_t is_wall, has_left; /* has_left: some places are left out */
    struct jr_table pids, tids, names;
};

static struct jr_slice string_of(const struct reading *reading, uint64_t index)
{
    return index < reading->nstrings ? reading->strings[index]
                                     : (struct jr_slice){NULL, 0};
}

static int is(struct jr_slice slice, const char *text)
{
    return slice.length == strlen(text) &&
           (slice.length == 0 || memcmp(slice.text, text, slice.length) == 0);
}

static void keep(struct messages *messages, const struct jr_wire *bytes)
{
    const size_t most = messages->holds_samples ? SAMPLES_MAX : ITEMS_MAX;

    if (messages->count == most)
        messages->is_full = 1;
    else
        *JR_PUSH(messages->items, messages->count, messages->room) = *bytes;
}

/* Takes the two numbers of a ValueType. */
static void take_type(struct jr_wire wire, uint64_t type[2])
{
    struct jr_wire_field field;

    type[0] = type[1] = 0;
    while (jr_wire_next(&wire, &field))
        if (field.number == 1 || field.number == 2)
            type[field.number - 1] = field.value;
}

static void take_bytes(struct reading *reading,
                       const struct jr_wire_field *field)
{
    const struct jr_wire *bytes = &field->bytes;

    switch (field->number) {
    case 1:
        keep(&reading->types, bytes);
        break;
    case 2:
        keep(&reading->samples, bytes);
        break;
    case 3:
        keep(&reading->mappings, bytes);
        break;
    case 4:
        keep(&reading->locations, bytes);
        break;
    case 5:
        keep(&reading->functions, bytes);
        break;
    case 6:
        if (reading->nstrings < ITEMS_MAX)
            *JR_PUSH(reading->strings, reading->nstrings,
                     reading->strings_room) = (struct jr_slice){
                (const char *)bytes->at, (size_t)(bytes->end - bytes->at)};
        break;
    case 11:
        take_type(*bytes, reading->period_type);
        break;
    default:
        break;
    }
}

static void take_number(struct reading *reading, uint32_t number,
                        uint64_t value)
{
    if (number == 9)
        reading->foreign->real_ns = (int64_t)value > 0 ? value : 0;
    else if (number == 10)
        reading->foreign->duration_ns = (int64_t)value > 0 ? value : 0;
    else if (number == 12)
        reading->period = (int64_t)value > 0 ? value : 0;
    else if (number == 14)
        reading->default_type = value;
    else if (number == 13 && reading->ncomments < LABELS_MAX)
        reading->comments[reading->ncomments++] = value;
}

/* Sorts out the fields of the profile; returns whether it is whole. */
static int take_top(struct reading *reading)
{
    const struct jr_foreign *foreign = reading->foreign;
    struct jr_wire wire = {foreign->data, foreign->data + foreign->size, 0};
    struct jr_wire_field field;
    uint64_t value;

    while (jr_wire_next(&wire, &field)) {
        if (!field.is_bytes)
            take_number(reading, field.number, field.value);
        else if (field.number == 13) /* packed */
            while (jr_wire_number(&field.bytes, &value))
                take_number(reading, 13, value);
        else
            take_bytes(reading, &field);
    }
    return !wire.bad;
}

/* How many nanoseconds a unit has; 0 where it is no unit of time. */
static uint64_t ns_of(struct jr_slice unit)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"nanoseconds", 1},        {"ns", 1},
        {"microseconds", 1000},    {"us", 1000},
        {"milliseconds", 1000000}, {"ms", 1000000},
        {"seconds", 1000000000},   {"s", 1000000000},
    };

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (is(unit, units[i].name))
            return units[i].ns;
    return 0;
}

/* Chooses the type of samples: the default one, else the last, as pprof
 * does. */
static void choose_type(struct reading *reading)
{
    struct jr_foreign *foreign = reading->foreign;
    uint64_t chosen[2] = {0, 0}, period_unit;

    for (size_t i = 0; i < reading->types.count; i++) {
        uint64_t type[2];

        take_type(reading->types.items[i], type);
        if (i > 0 && reading->default_type != 0 &&
            chosen[0] == reading->default_type)
            break;
        memcpy(chosen, type, sizeof chosen);
        reading->value = (uint32_t)i;
    }
    foreign->type = string_of(reading, chosen[0]);
    foreign->unit = string_of(reading, chosen[1]);
    reading->unit_ns = ns_of(foreign->unit);
    reading->is_wall = is(foreign->type, "wall");
    foreign->is_time = reading->unit_ns > 0;
    period_unit = ns_of(string_of(reading, reading->period_type[1]));
    if (foreign->is_time)
        foreign->period_ns =
            period_unit == 0 || reading->period == 0 ||
                    __builtin_mul_overflow(reading->period, period_unit,
                                           &foreign->period_ns)
                ? PERIOD_NS
                : foreign->period_ns;
    else
        reading->unit_ns = foreign->period_ns = 1;
}

/* The item with an id; JR_NO_ITEM: there is none. */
static uint32_t item_of(struct jr_table *table, uint64_t id)
{
    const uint32_t none = JR_NO_ITEM - 1;
    const uint32_t found = jr_table_put(table, id, 0, none);

    return found == none ? JR_NO_ITEM : found;
}

static void read_mappings(struct reading *reading)
{
    struct jr_wire_field field;

    reading->all_mappings =
        jr_alloc(reading->mappings.count + 1, sizeof *reading->all_mappings);
    for (size_t i = 0; i < reading->mappings.count; i++) {
        struct jr_wire wire = reading->mappings.items[i];
        uint64_t id = 0;

        while (jr_wire_next(&wire, &field))
            if (field.number == 1)
                id = field.value;
            else if (field.number == 5)
                reading->all_mappings[i].file = string_of(reading, field.value);
        jr_table_put(&reading->by_mapping, id, 0, (uint32_t)i);
    }
    if (reading->mappings.count > 0)
        reading->foreign->program = reading->all_mappings[0].file;
}

static void read_functions(struct reading *reading)
{
    struct jr_wire_field field;

    reading->all_functions =
        jr_alloc(reading->functions.count + 1, sizeof *reading->all_functions);
    for (size_t i = 0; i < reading->functions.count; i++) {
        struct function *function = &reading->all_functions[i];
        struct jr_wire wire = reading->functions.items[i];
        uint64_t id = 0;

        while (jr_wire_next(&wire, &field)) {
            const struct jr_slice text = string_of(reading, field.value);

            if (field.number == 1)
                id = field.value;
            else if (field.number == 2)
                function->name = text;
            else if (field.number == 3)
                function->raw = text;
            else if (field.number == 4)
                function->file = text;
        }
        if (function->name.length == 0)
            function->name = function->raw;
        jr_table_put(&reading->by_function, id, 0, (uint32_t)i);
    }
}

static void add_frame(struct reading *reading, struct jr_slice module,
                      const struct function *function, uint64_t line)
{
    struct jr_foreign *foreign = reading->foreign;
    struct jr_foreign_frame frame = {.module = module,
                                     .is_jit = (uint8_t)is(module, "[jit]")};

    if (function && function->name.length > 0) {
        frame.name = function->name;
        frame.raw = function->raw;
        frame.file = function->file;
        frame.line = line > INT32_MAX ? 0 : (uint32_t)line;
        foreign->has_lines |= frame.line != 0;
    } else {
        frame.is_unnamed = 1;
    }
    *JR_PUSH(foreign->frames, foreign->nframes, foreign->frames_room) = frame;
}

static void add_line(struct reading *reading, struct jr_slice module,
                     struct jr_wire wire)
{
    struct jr_wire_field field;
    uint64_t function = 0, line = 0;
    uint32_t index;

    while (jr_wire_next(&wire, &field))
        if (field.number == 1)
            function = field.value;
        else if (field.number == 2)
            line = field.value;
    index = item_of(&reading->by_function, function);
    add_frame(reading, module,
              index == JR_NO_ITEM ? NULL : &reading->all_functions[index],
              line);
}

static void read_location(struct reading *reading, size_t number)
{
    struct jr_foreign *foreign = reading->foreign;
    struct jr_wire wire = reading->locations.items[number];
    struct jr_foreign_place place = {.first = (uint32_t)foreign->nframes};
    struct jr_wire_field field;
    struct jr_slice module = {NULL, 0};
    uint64_t id = 0;
    uint32_t mapping = JR_NO_ITEM;

    if (foreign->nframes > FRAMES_MAX - JR_FOREIGN_LINES) {
        reading->has_left = 1;
        return;
    }
    while (jr_wire_next(&wire, &field))
        if (field.number == 1)
            id = field.value;
        else if (field.number == 2)
            mapping = item_of(&reading->by_mapping, field.value);
        else if (field.number == 3)
            place.address = field.value;
    if (mapping != JR_NO_ITEM)
        module = reading->all_mappings[mapping].file;
    wire = reading->locations.items[number];
    while (place.count < JR_FOREIGN_LINES && jr_wire_next(&wire, &field))
        if (field.number == 4 && field.is_bytes) {
            add_line(reading, module, field.bytes);
            place.count++;
        }
    if (place.count == 0) {
        add_frame(reading, module, NULL, 0);
        place.count = 1;
    }
    jr_table_put(&reading->by_location, id, 0, (uint32_t)foreign->nplaces);
    *JR_PUSH(foreign->places, foreign->nplaces, foreign->places_room) = place;
}

/* What is said of a sample beside its stack. */
struct labels {
    struct jr_slice thread, process, event;
    uint64_t pid, tid;
};

static void take_label(const struct reading *reading, struct jr_wire wire,
                       struct labels *labels)
{
    struct jr_slice key = {NULL, 0}, text = {NULL, 0};
    struct jr_wire_field field;
    uint64_t number = 0;

    while (jr_wire_next(&wire, &field))
        if (field.number == 1)
            key = string_of(reading, field.value);
        else if (field.number == 2)
            text = string_of(reading, field.value);
        else if (field.number == 3)
            number = field.value;
    if (is(key, "thread") || is(key, "thread name"))
        labels->thread = text;
    else if (is(key, "process"))
        labels->process = text;
    else if (is(key, "event"))
        labels->event = text;
    else if (is(key, "pid"))
        labels->pid = number;
    else if (is(key, "tid") || is(key, "thread id"))
        labels->tid = number;
}

/* Repeated numbers are packed, or fields each. */
static int next_value(struct jr_wire_field *field, int *first, uint64_t *value)
{
    if (field->is_bytes)
        return jr_wire_number(&field->bytes, value);
    *value = field->value;
    return (*first)-- > 0;
}

/* The process of that pid, which may be new. */
static uint32_t process_of(struct jr_foreign *foreign, struct jr_table *table,
                           uint32_t pid, struct jr_slice name)
{
    const uint32_t fresh = (uint32_t)foreign->nprocesses;
    const uint32_t found = jr_table_put(table, pid, 0, fresh);

    if (found == fresh)
        *JR_PUSH(foreign->processes, foreign->nprocesses,
                 foreign->processes_room) =
            (struct jr_foreign_process){pid, name};
    return found;
}

/* The number of the sample's thread: its tid, else one for its name. */
static void set_thread(struct reading *reading, const struct labels *labels,
                       struct jr_foreign_sample *sample)
{
    struct jr_foreign *foreign = reading->foreign;
    const uint32_t fresh = (uint32_t)foreign->nthreads;
    uint32_t found;

    sample->process = process_of(
        foreign, &reading->pids,
        labels->pid > INT32_MAX ? 0 : (uint32_t)labels->pid, labels->process);
    if (labels->tid > 0 && labels->tid <= INT32_MAX)
        found =
            jr_table_put(&reading->tids, labels->tid, sample->process, fresh);
    else /* texts of one string table are equal where they begin */
        found = jr_table_put(&reading->names, (uintptr_t)labels->thread.text,
                             sample->process, fresh);
    if (found == fresh)
        *JR_PUSH(foreign->threads, foreign->nthreads,
                 foreign->threads_room) = (struct jr_foreign_thread){
            sample->process,
            labels->tid > 0 && labels->tid <= INT32_MAX ? (uint32_t)labels->tid
                                                        : fresh + 1,
            labels->thread};
    foreign->has_threads |= labels->tid > 0 || labels->thread.length > 0;
    sample->tid = foreign->threads[found].tid;
}

static uint8_t event_of(const struct reading *reading, struct jr_slice event)
{
    if (is(event, "running"))
        return JP_EVENT_WALL_RUNNING;
    if (is(event, "blocked"))
        return JP_EVENT_WALL_BLOCKED;
    if (is(event, "ready"))
        return JP_EVENT_WALL_READY;
    return reading->is_wall ? JP_EVENT_WALL_RUNNING : JP_EVENT_CPU;
}

/* Adds the places of a sample; -1: one of them is not there. */
static int add_places(struct reading *reading, struct jr_wire_field field,
                      struct jr_foreign_sample *sample, size_t *frames)
{
    struct jr_foreign *foreign = reading->foreign;
    uint64_t value;
    int first = 1;

    while (next_value(&field, &first, &value)) {
        const uint32_t place = item_of(&reading->by_location, value);

        if (place == JR_NO_ITEM)
            return -1;
        *frames += foreign->places[place].count;
        if (*frames > JR_FOREIGN_DEPTH)
            continue;
        *JR_PUSH(foreign->stacks, foreign->nstacks, foreign->stacks_room) =
            place;
        sample->count++;
    }
    return 0;
}

/* Takes the values of a sample, one of which is its weight. */
static void take_values(const struct reading *reading,
                        struct jr_wire_field field, uint32_t *index,
                        int64_t *weight)
{
    uint64_t value;
    int first = 1;

    while (next_value(&field, &first, &value))
        if ((*index)++ == reading->value)
            *weight = (int64_t)value;
}

static void read_sample(struct reading *reading, struct jr_wire wire)
{
    struct jr_foreign *foreign = reading->foreign;
    struct jr_foreign_sample sample = {.first = foreign->nstacks};
    struct jr_wire_field field;
    struct labels labels = {0};
    size_t frames = 0;
    int64_t weight = 0;
    uint32_t index = 0;
    int bad = 0;

    while (!bad && jr_wire_next(&wire, &field)) {
        if (field.number == 1)
            bad = add_places(reading, field, &sample, &frames) != 0;
        else if (field.number == 2)
            take_values(reading, field, &index, &weight);
        else if (field.number == 3 && field.is_bytes)
            take_label(reading, field.bytes, &labels);
    }
    if (!bad && !wire.bad && weight == 0)
        return;
    if (bad || wire.bad || weight < 0 || foreign->nstacks > UINT32_MAX) {
        foreign->nstacks = sample.first;
        foreign->bad++;
        return;
    }
    foreign->cut += frames > JR_FOREIGN_DEPTH;
    if (__builtin_mul_overflow((uint64_t)weight, reading->unit_ns,
                               &sample.weight_ns))
        sample.weight_ns = UINT64_MAX;
    sample.event = event_of(reading, labels.event);
    set_thread(reading, &labels, &sample);
    *JR_PUSH(foreign->samples, foreign->nsamples, foreign->samples_room) =
        sample;
}

static void free_reading(struct reading *reading)
{
    free(reading->strings);
    free(reading->types.items);
    free(reading->samples.items);
    free(reading->mappings.items);
    free(reading->locations.items);
    free(reading->functions.items);
    free(reading->all_mappings);
    free(reading->all_functions);
    jr_table_free(&reading->by_mapping);
    jr_table_free(&reading->by_location);
    jr_table_free(&reading->by_function);
    jr_table_free(&reading->pids);
    jr_table_free(&reading->tids);
    jr_table_free(&reading->names);
}

int jr_foreign_pprof(struct jr_foreign *foreign, const char *path,
                     struct jr_diag *diag)
{
    struct reading reading = {.foreign = foreign, .samples.holds_samples = 1};
    int is_whole = take_top(&reading), result = -1;

    if (!is_whole)
        jr_warn(diag, path, JR_NO_OFFSET,
                "the profile is cut off or damaged; what is before that is "
                "read");
    if (reading.types.count == 0 || reading.types.count > TYPES_MAX) {
        jr_warn(diag, path, JR_NO_OFFSET,
                "it has no type of samples: no pprof profile; it is left out");
    } else {
        choose_type(&reading);
        read_mappings(&reading);
        read_functions(&reading);
        for (size_t i = 0; i < reading.locations.count; i++)
            read_location(&reading, i);
        for (size_t i = 0; i < reading.samples.count; i++)
            read_sample(&reading, reading.samples.items[i]);
        for (size_t i = 0; i < reading.ncomments; i++)
            *JR_PUSH(foreign->comments, foreign->ncomments,
                     foreign->comments_room) =
                string_of(&reading, reading.comments[i]);
        result = 0;
    }
    if (reading.samples.is_full || reading.locations.is_full ||
        reading.functions.is_full || reading.mappings.is_full ||
        reading.nstrings == ITEMS_MAX || reading.has_left)
        jr_warn(diag, path, JR_NO_OFFSET,
                "it has more samples, locations, functions or strings than "
                "can be read; the rest is left out");
    free_reading(&reading);
    return result;
}
