/* SPDX-License-Identifier: MIT
 *
 * Collapsed stacks: lines "root;child;leaf N" (Brendan Gregg's FlameGraph,
 * stackcollapse-*.pl; inferno; async-profiler; Austin).  A first pass finds out
 * how the file writes its numbers.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "jp_log.h"
#include "foreign.h"

#define LINE_MAX_BYTES ((size_t)1 << 24)
#define TOTAL_MOST 1e15 /* of scaled counts: sums of them fit into 64 bits */
#define DECIMALS_MOST 300
#define US_NS 1000U

struct reading {
    struct jr_foreign *foreign;
    struct jr_foreign_known known;
    struct jr_table pids, tids;
    size_t number; /* of the line */
    enum jr_foreign_commas commas;
    int decimals;
    /* Of the first pass: */
    size_t lines, twos, with_commas, with_groups;
    unsigned most_commas;
    int exponent; /* the least */
    double total;
    /* Of Austin's heads: */
    uint64_t interval_us;
    struct jr_slice mode;
    uint8_t is_austin;
    struct jr_foreign_frame chain[JR_FOREIGN_LINES];
};

/* The stack of a line, and its counts. */
struct line {
    struct jr_slice stack;
    struct jr_foreign_number before, count;
    uint8_t has_two;
};

/* Takes a line apart.  Returns 0, or -1: it is no stack with a count. */
static int take_apart(struct jr_slice text, enum jr_foreign_commas commas,
                      struct line *line)
{
    struct jr_slice word, rest;

    if (text.length > LINE_MAX_BYTES || !jr_foreign_last_word(&text, &word) ||
        jr_foreign_number(word, commas, &line->count) != 0)
        return -1;
    rest = text;
    line->has_two = jr_foreign_last_word(&rest, &word) &&
                    jr_foreign_number(word, commas, &line->before) == 0;
    line->stack = text;
    return 0;
}

static int is_stack(struct jr_slice text)
{
    return jr_foreign_trim(text).length > 0 && *text.text != '#';
}

/* Takes a head of Austin's, "# mode: wall" (its README, "Output"). */
static void take_head(struct reading *reading, struct jr_slice line)
{
    struct jr_slice word;

    if (!jr_foreign_begins(line, "# ") || !jr_foreign_last_word(&line, &word))
        return;
    if (jr_foreign_ends(line, "# austin:"))
        reading->is_austin = 1;
    else if (jr_foreign_ends(line, "# mode:"))
        reading->mode = word;
    else if (jr_foreign_ends(line, "# interval:")) {
        struct jr_foreign_number number;

        if (jr_foreign_number(word, JR_COMMAS_LIST, &number) == 0)
            reading->interval_us = jr_foreign_scaled(&number, 0);
    }
}

/* Counts what the numbers look like, whatever commas mean. */
static void look_at(struct reading *reading, struct jr_slice text)
{
    struct line line;
    const struct jr_foreign_number *count = &line.count;

    if (!is_stack(text)) {
        take_head(reading, text);
    } else if (take_apart(text, JR_COMMAS_LIST, &line) == 0) {
        reading->lines++;
        reading->twos += line.has_two;
        reading->with_commas += count->commas > 0;
        reading->with_groups += count->has_groups;
        if (count->commas > reading->most_commas)
            reading->most_commas = count->commas;
    }
}

static void look_at_number(struct reading *reading,
                           const struct jr_foreign_number *number)
{
    double value = (double)number->mantissa;

    if (number->mantissa == 0 || number->is_negative)
        return;
    if (number->exponent < reading->exponent)
        reading->exponent = number->exponent;
    for (int i = number->exponent; i > 0; i--)
        value *= 10;
    for (int i = number->exponent; i < 0; i++)
        value /= 10;
    reading->total += value;
}

/* Finds how many digits behind the point count: all, as far as there is room.
 */
static void look_at_size(struct reading *reading, struct jr_slice text)
{
    struct line line;

    if (!is_stack(text) || take_apart(text, reading->commas, &line) != 0)
        return;
    look_at_number(reading, &line.count);
    if (reading->foreign->has_two && line.has_two)
        look_at_number(reading, &line.before);
}

static void each_line(struct reading *reading,
                      void take(struct reading *, struct jr_slice))
{
    struct jr_slice text = {(const char *)reading->foreign->data,
                            reading->foreign->size};
    struct jr_slice line;

    reading->number = 0;
    while (jr_foreign_line(&text, &line)) {
        reading->number++;
        take(reading, line);
    }
}

/* Finds out how the file writes numbers, and says what is to be said of it. */
static void survey(struct reading *reading)
{
    struct jr_foreign *foreign = reading->foreign;
    double total;

    each_line(reading, look_at);
    foreign->has_two = reading->lines > 0 && reading->twos == reading->lines;
    reading->commas = reading->with_commas == 0 ? JR_COMMAS_DECIMAL
                      : reading->with_groups == reading->with_commas
                          ? JR_COMMAS_GROUPS
                      : reading->most_commas == 1 ? JR_COMMAS_DECIMAL
                                                  : JR_COMMAS_LIST;
    if (reading->with_commas > 0)
        jr_foreign_remark(
            foreign,
            jr_strdup(
                reading->commas == JR_COMMAS_GROUPS
                    ? "the commas in its counts are read as groups of thousands"
                : reading->commas == JR_COMMAS_DECIMAL
                    ? "the commas in its counts are read as decimal points"
                    : "its lines have several values behind commas; the first "
                      "of them is read"));
    if (foreign->has_two)
        jr_foreign_remark(
            foreign, jr_strdup("each line has two counts, of a profile before "
                               "and one after it; --diff FILE FILE, with this "
                               "file twice, compares them, and otherwise the "
                               "second one is read"));
    each_line(reading, look_at_size);
    total = reading->total;
    while (reading->decimals < -reading->exponent &&
           reading->decimals < DECIMALS_MOST && total < TOTAL_MOST / 10) {
        reading->decimals++;
        total *= 10;
    }
    if (reading->decimals > 0)
        jr_foreign_remark(foreign,
                          jr_printf("its counts have fractions: a count of 1 "
                                    "in it is 1e%d below",
                                    reading->decimals));
}

/* Takes the mark off a frame's name that tells what kind of code it is:
 * stackcollapse-perf.pl --all and async-profiler's "ann" write _[k] for the
 * kernel, _[j] for JIT code and _[i] for inlined functions, async-profiler _[0]
 * for interpreted and _[1] for C1's code; jprof writes " (inlined)".  Returns
 * whether the function is inlined. */
static int take_mark(struct jr_foreign_frame *frame)
{
    struct jr_slice *name = &frame->name;
    const char mark =
        name->length > 4 && memcmp(name->text + name->length - 4, "_[", 2) == 0
            ? name->text[name->length - 2]
            : '\0';

    if (jr_foreign_ends(*name, " (inlined)") && name->length > 10) {
        name->length -= strlen(" (inlined)");
        return 1;
    }
    if (mark == '\0' || name->text[name->length - 1] != ']' ||
        !strchr("kji01", mark))
        return 0;
    name->length -= 4;
    if (mark == 'k')
        frame->module = (struct jr_slice){"[kernel]", 8};
    if (mark != 'k' && mark != 'i') {
        frame->is_jit = 1;
        frame->module = (struct jr_slice){"[jit]", 5};
        frame->tier = mark == '0' ? "interpreted" : mark == '1' ? "C1" : NULL;
    }
    return mark == 'i';
}

/* Austin's frames are "file:function:line". */
static void take_austin_frame(struct jr_foreign *foreign,
                              struct jr_foreign_frame *frame)
{
    const struct jr_slice all = frame->name;
    struct jr_foreign_number number;
    size_t colon = all.length, first;

    while (colon > 0 && all.text[colon - 1] != ':')
        colon--;
    first = colon > 0 ? colon - 1 : 0;
    while (first > 0 && all.text[first - 1] != ':')
        first--;
    if (first == 0 || first + 1 >= colon ||
        jr_foreign_number(
            (struct jr_slice){all.text + colon, all.length - colon},
            JR_COMMAS_LIST, &number) != 0)
        return;
    frame->name = (struct jr_slice){all.text + first, colon - 1 - first};
    frame->file = (struct jr_slice){all.text, first - 1};
    frame->line = (uint32_t)(jr_foreign_scaled(&number, 0) & INT32_MAX);
    foreign->has_lines |= frame->line > 0;
}

/* Makes a place of `count` functions of the chain. */
static int end_chain(struct reading *reading, struct jr_foreign_sample *sample,
                     uint32_t count)
{
    const struct jr_foreign_frame *outer = &reading->chain[count - 1];
    uint32_t place;

    for (uint32_t i = 0; i + 1 < count; i++) {
        reading->chain[i].is_jit = outer->is_jit;
        reading->chain[i].module = outer->module;
    }
    place = jr_foreign_place_of(reading->foreign, &reading->known,
                                reading->chain, count, 0);
    return place == JR_NO_ITEM
               ? -1
               : jr_foreign_push(reading->foreign, sample, place);
}

/* Adds the stack, its leaf first.  Returns -1 if there are too many places. */
static int add_stack(struct reading *reading, struct jr_slice stack,
                     struct jr_foreign_sample *sample)
{
    uint32_t count = 0;
    size_t end = stack.length, start;

    do {
        struct jr_foreign_frame *frame = &reading->chain[count++];
        int is_inlined;

        for (start = end; start > 0 && stack.text[start - 1] != ';'; start--)
            ;
        *frame = (struct jr_foreign_frame){
            .name = {stack.text + start, end - start}};
        is_inlined = take_mark(frame);
        if (reading->is_austin)
            take_austin_frame(reading->foreign, frame);
        frame->is_unnamed = frame->name.length == 0;
        if (!is_inlined || start == 0 || count == JR_FOREIGN_LINES) {
            if (end_chain(reading, sample, count) != 0)
                return reading->foreign->is_full ? -1 : 0;
            count = 0;
        }
        end = start - 1;
    } while (start > 0);
    return 0;
}

/* Takes "P12;" or "T0x7f12;" off the stack; Austin 3.5 and later write
 * "T0:140123;", an interpreter in front of the thread. */
static int take_id(struct jr_slice *stack, char letter, uint64_t *id,
                   struct jr_slice *text)
{
    const char *end =
        stack->length > 1 ? memchr(stack->text, ';', stack->length) : NULL;
    char digits[32];
    char *stop;
    size_t length;

    if (!end || *stack->text != letter)
        return -1;
    *text = (struct jr_slice){stack->text, (size_t)(end - stack->text)};
    for (length = text->length; length > 1 && text->text[length - 1] != ':';
         length--)
        ;
    if (text->length - length >= sizeof digits || text->length == length)
        return -1;
    memcpy(digits, text->text + length, text->length - length);
    digits[text->length - length] = '\0';
    *id = strtoull(digits, &stop, 0);
    if (*stop != '\0')
        return -1;
    stack->length -= text->length + 1;
    stack->text = end + 1;
    return 0;
}

/* Sets the process and thread that Austin puts in front of a stack. */
static void set_thread(struct reading *reading, struct jr_slice *stack,
                       struct jr_foreign_sample *sample)
{
    struct jr_foreign *foreign = reading->foreign;
    struct jr_slice text = {NULL, 0};
    uint64_t pid = 0, tid = 0;
    uint32_t fresh = (uint32_t)foreign->nprocesses;

    if (reading->is_austin && take_id(stack, 'P', &pid, &text) == 0)
        take_id(stack, 'T', &tid, &text);
    sample->process = jr_table_put(&reading->pids, pid, 0, fresh);
    if (sample->process == fresh)
        *JR_PUSH(foreign->processes, foreign->nprocesses,
                 foreign->processes_room) = (struct jr_foreign_process){
            pid > INT32_MAX ? 0 : (uint32_t)pid, {NULL, 0}};
    fresh = (uint32_t)foreign->nthreads;
    sample->tid = jr_table_put(&reading->tids, tid, sample->process, fresh) + 1;
    if (sample->tid == fresh + 1)
        *JR_PUSH(foreign->threads, foreign->nthreads, foreign->threads_room) =
            (struct jr_foreign_thread){sample->process, sample->tid, text};
    foreign->has_threads |= text.length > 0;
}

static uint64_t weight_of(const struct reading *reading,
                          const struct jr_foreign_number *number)
{
    uint64_t weight = jr_foreign_scaled(number, reading->decimals);

    if (reading->foreign->is_time &&
        __builtin_mul_overflow(weight, (uint64_t)US_NS, &weight))
        weight = UINT64_MAX;
    return weight;
}

static void count_bad(struct reading *reading)
{
    if (reading->foreign->bad++ == 0)
        reading->foreign->bad_line = reading->number;
}

static void take_line(struct reading *reading, struct jr_slice text)
{
    struct jr_foreign *foreign = reading->foreign;
    struct jr_foreign_sample sample = {.first = foreign->nstacks,
                                       .event = JP_EVENT_CPU};
    struct line line;

    if (!is_stack(text))
        return;
    if (take_apart(text, reading->commas, &line) != 0 ||
        line.count.is_negative) {
        count_bad(reading);
        return;
    }
    if (foreign->has_two) {
        jr_foreign_last_word(&line.stack, &text);
        if (line.before.is_negative) {
            count_bad(reading);
            return;
        }
        sample.before_ns = weight_of(reading, &line.before);
    }
    sample.weight_ns = weight_of(reading, &line.count);
    if (sample.weight_ns == 0 && sample.before_ns == 0)
        return;
    set_thread(reading, &line.stack, &sample);
    jr_foreign_add(foreign, &sample,
                   add_stack(reading, line.stack, &sample) == 0);
}

/* Austin's counts are microseconds, unless it measured memory. */
static void set_units(struct reading *reading)
{
    struct jr_foreign *foreign = reading->foreign;

    if (!reading->is_austin)
        return;
    foreign->type = reading->mode;
    if (jr_foreign_begins(reading->mode, "mem")) {
        foreign->unit = (struct jr_slice){"bytes", 5};
        return;
    }
    foreign->is_time = 1;
    foreign->unit = (struct jr_slice){"microseconds", 12};
    foreign->period_ns =
        reading->interval_us > 0 && reading->interval_us < UINT32_MAX
            ? reading->interval_us * US_NS
            : US_NS;
}

int jr_foreign_collapsed(struct jr_foreign *foreign, const char *path,
                         struct jr_diag *diag)
{
    struct reading *reading = jr_alloc(1, sizeof *reading);

    reading->foreign = foreign;
    survey(reading);
    set_units(reading);
    each_line(reading, take_line);
    jr_index_free(&reading->known.by_hash);
    jr_table_free(&reading->pids);
    jr_table_free(&reading->tids);
    free(reading);
    if (foreign->nsamples > 0)
        return 0;
    jr_warn(diag, path, JR_NO_OFFSET,
            "no line in it is a stack with a count; "
            "it is left out");
    return -1;
}
