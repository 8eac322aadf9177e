/* SPDX-License-Identifier: MIT
 *
 * Collapsed stacks: lines "root;child;leaf N" (Brendan Gregg's FlameGraph,
 * stackcollapse-*.pl; inferno).
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "foreign.h"
#include "jp_log.h"

#define LINE_MAX_BYTES ((size_t)1 << 24)

struct reading {
    struct jr_foreign *foreign;
    struct jr_index by_name; /* places */
};

static uint32_t hash_of(struct jr_slice name)
{
    uint64_t hash = name.length;

    for (size_t i = 0; i < name.length; i++)
        hash = (hash ^ (unsigned char)name.text[i]) * 0x100000001b3ULL;
    return jr_hash(hash, 0);
}

/* Frames of JIT code end in _[j] there, those inlined in _[i], the kernel's in
 * _[k]. */
static struct jr_foreign_frame frame_of(struct jr_slice name)
{
    struct jr_foreign_frame frame = {.name = name};

    if (name.length > 4 &&
        memcmp(name.text + name.length - 4, "_[j]", 4) == 0) {
        frame.name.length -= 4;
        frame.is_jit = 1;
        frame.module = (struct jr_slice){"[jit]", 5};
    }
    frame.is_unnamed = name.length == 0;
    return frame;
}

/* The place that stands for a name. */
static uint32_t place_of(struct reading *reading, struct jr_slice name)
{
    struct jr_foreign *foreign = reading->foreign;
    const uint32_t hash = hash_of(name);
    const struct jr_foreign_frame frame = frame_of(name);
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&reading->by_name, hash, &at)) !=
           JR_NO_ITEM) {
        const struct jr_foreign_frame *other =
            &foreign->frames[foreign->places[found].first];

        if (other->name.length == frame.name.length &&
            other->is_jit == frame.is_jit &&
            (frame.name.length == 0 ||
             memcmp(other->name.text, frame.name.text, frame.name.length) == 0))
            return found;
    }
    found = (uint32_t)foreign->nplaces;
    jr_index_add(&reading->by_name, hash, found);
    *JR_PUSH(foreign->places, foreign->nplaces, foreign->places_room) =
        (struct jr_foreign_place){.first = (uint32_t)foreign->nframes,
                                  .count = 1};
    *JR_PUSH(foreign->frames, foreign->nframes, foreign->frames_room) = frame;
    return found;
}

/* Takes the count off the end of a line: a number, of which a fraction is
 * dropped, as inferno does.  Returns 0, or -1: there is none. */
static int take_count(struct jr_slice *line, uint64_t *count)
{
    size_t at = line->length;
    const char *digits;
    char *end;
    char text[32];

    while (at > 0 &&
           ((line->text[at - 1] >= '0' && line->text[at - 1] <= '9') ||
            line->text[at - 1] == '.'))
        at--;
    if (at == 0 || at == line->length || line->length - at >= sizeof text ||
        (line->text[at - 1] != ' ' && line->text[at - 1] != '\t'))
        return -1;
    memcpy(text, line->text + at, line->length - at);
    text[line->length - at] = '\0';
    digits = text;
    *count = strtoull(digits, &end, 10);
    if (end == digits || (*end != '\0' && *end != '.'))
        return -1;
    line->length = at - 1;
    return 0;
}

/* Adds the stack, its leaf first. */
static void add_stack(struct reading *reading, struct jr_slice line,
                      struct jr_foreign_sample *sample)
{
    struct jr_foreign *foreign = reading->foreign;
    size_t end = line.length;

    for (;;) {
        size_t start = end;

        while (start > 0 && line.text[start - 1] != ';')
            start--;
        if (sample->count == JR_FOREIGN_DEPTH) {
            foreign->cut++;
            return;
        }
        *JR_PUSH(foreign->stacks, foreign->nstacks, foreign->stacks_room) =
            place_of(reading,
                     (struct jr_slice){line.text + start, end - start});
        sample->count++;
        if (start == 0)
            return;
        end = start - 1;
    }
}

static void take_line(struct reading *reading, struct jr_slice line)
{
    struct jr_foreign *foreign = reading->foreign;
    struct jr_foreign_sample sample = {.first = foreign->nstacks,
                                       .event = JP_EVENT_CPU};

    if (line.length > 0 && line.text[line.length - 1] == '\r')
        line.length--;
    if (line.length == 0 || line.text[0] == '#')
        return;
    if (line.length > LINE_MAX_BYTES ||
        take_count(&line, &sample.weight_ns) != 0) {
        foreign->bad++;
        return;
    }
    if (sample.weight_ns == 0)
        return;
    if (line.length > 0)
        add_stack(reading, line, &sample);
    sample.tid = 1;
    *JR_PUSH(foreign->samples, foreign->nsamples, foreign->samples_room) =
        sample;
}

int jr_foreign_collapsed(struct jr_foreign *foreign, const char *path,
                         struct jr_diag *diag)
{
    struct reading reading = {.foreign = foreign};
    const char *at = (const char *)foreign->data, *end = at + foreign->size;

    foreign->kind = "collapsed stacks";
    *JR_PUSH(foreign->processes, foreign->nprocesses, foreign->processes_room) =
        (struct jr_foreign_process){0};
    *JR_PUSH(foreign->threads, foreign->nthreads, foreign->threads_room) =
        (struct jr_foreign_thread){.tid = 1};
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;

        take_line(&reading, (struct jr_slice){at, (size_t)(stop - at)});
        at = newline ? newline + 1 : end;
    }
    jr_index_free(&reading.by_name);
    if (foreign->nsamples > 0)
        return 0;
    jr_warn(diag, path, JR_NO_OFFSET,
            "no line in it is a stack with a count; "
            "it is left out");
    return -1;
}
