/* SPDX-License-Identifier: MIT
 *
 * Text that perf script writes (Linux, tools/perf/builtin-script.c and
 * util/evsel_fprintf.c): "comm pid/tid [cpu] seconds: period event:", then a
 * line "address symbol+offset (dso)" for each frame, the leaf first.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "jp_log.h"
#include "foreign.h"

#define NS_DIGITS 9
#define EVENTS_MAX 32 /* perf record's, that are told from each other */

struct reading {
    struct jr_foreign *foreign;
    struct jr_foreign_known known;
    struct jr_table pids, tids;
    size_t others;  /* samples of other events than the first one */
    size_t without; /* samples without a period */
    size_t number;  /* of the line */
    /* The sample whose frames are read, and its last frame behind the functions
     * that are inlined there. */
    struct jr_foreign_sample sample;
    struct jr_foreign_frame chain[JR_FOREIGN_LINES];
    uint64_t address;
    uint32_t nchain;
    uint8_t has_begun;                  /* a sample of the event was read */
    uint8_t is_open, is_good, is_ended; /* is_ended: the chain has its frame */
};

static int is_digits(struct jr_slice word)
{
    for (size_t i = 0; i < word.length; i++)
        if (word.text[i] < '0' || word.text[i] > '9')
            return 0;
    return word.length > 0;
}

/* Takes a decimal number off the word; -1: there is none, or it is too large.
 */
static int take_number(struct jr_slice *word, uint64_t *number)
{
    size_t at = 0;

    *number = 0;
    for (; at < word->length && word->text[at] >= '0' && word->text[at] <= '9';
         at++)
        if (__builtin_mul_overflow(*number, (uint64_t)10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(word->text[at] - '0'),
                                   number))
            return -1;
    word->text += at;
    word->length -= at;
    return at > 0 ? 0 : -1;
}

/* Takes the first word of the line, and the blanks around it. */
static struct jr_slice take_word(struct jr_slice *line)
{
    const struct jr_slice all = jr_foreign_trim(*line);
    size_t at = 0;

    while (at < all.length && all.text[at] != ' ' && all.text[at] != '\t')
        at++;
    *line = jr_foreign_trim((struct jr_slice){all.text + at, all.length - at});
    return (struct jr_slice){all.text, at};
}

/* "12" is a tid, "12/13" a pid and a tid; -1 stands for a thread that had ended
 * when perf looked. */
static int is_ids(struct jr_slice word, struct jr_perf_head *head)
{
    uint64_t first, second = 0;
    int has_both = 0;

    if (jr_foreign_begins(word, "-1")) {
        word.text++;
        word.length--;
    }
    if (take_number(&word, &first) != 0)
        return 0;
    if (word.length > 1 && *word.text == '/') {
        word.text++;
        word.length--;
        if (*word.text == '-') {
            word.text++;
            word.length--;
        }
        if (take_number(&word, &second) != 0)
            return 0;
        has_both = 1;
    }
    if (word.length > 0 || first > INT32_MAX || second > INT32_MAX)
        return 0;
    head->pid = has_both ? (uint32_t)first : 0;
    head->tid = has_both ? (uint32_t)second : (uint32_t)first;
    return 1;
}

/* Seconds with six or nine digits behind the point, then a colon. */
static int is_time(struct jr_slice word, struct jr_perf_head *head)
{
    uint64_t seconds, fraction = 0;
    size_t digits;

    if (word.length < 4 || word.text[word.length - 1] != ':')
        return 0;
    word.length--;
    if (take_number(&word, &seconds) != 0 || word.length < 2 ||
        *word.text != '.')
        return 0;
    word.text++;
    digits = --word.length;
    if (!is_digits(word) || digits > NS_DIGITS ||
        take_number(&word, &fraction) != 0)
        return 0;
    for (; digits < NS_DIGITS; digits++)
        fraction *= 10;
    if (__builtin_mul_overflow(seconds, (uint64_t)1000000000, &seconds) ||
        __builtin_add_overflow(seconds, fraction, &head->time_ns))
        return 0;
    head->has_time = 1;
    return 1;
}

static int is_cpu(struct jr_slice word)
{
    return word.length > 2 && *word.text == '[' &&
           word.text[word.length - 1] == ']' &&
           is_digits((struct jr_slice){word.text + 1, word.length - 2});
}

/* Takes "period event:" or "event:" off what follows the time. */
static int take_event(struct jr_slice rest, struct jr_perf_head *head)
{
    struct jr_slice word = take_word(&rest), number = word;
    struct jr_perf_head unused;

    if (is_digits(word)) {
        head->has_period = take_number(&number, &head->period) == 0;
        word = take_word(&rest);
    }
    if (word.length < 2 || word.text[word.length - 1] != ':' ||
        is_time(word, &unused))
        return -1;
    while (word.length > 0 && word.text[word.length - 1] == ':')
        word.length--;
    head->event = word;
    head->rest = rest;
    return word.length > 0 ? 0 : -1;
}

/* A thread's name may have blanks and numbers in it, so the ids are those in
 * front of the time; without a time those in front of the event. */
int jr_foreign_is_perf_head(struct jr_slice line, struct jr_perf_head *head)
{
    const struct jr_slice all = jr_foreign_trim(line);
    struct jr_slice rest = all, word, ids = {NULL, 0};
    struct jr_perf_head unused;

    if (!head)
        head = &unused;
    *head = (struct jr_perf_head){0};
    while (rest.length > 0) {
        word = take_word(&rest);
        if (ids.text && is_time(word, head))
            break;
        if (is_cpu(word) && ids.text)
            continue;
        if (word.text > all.text && is_ids(word, head)) {
            struct jr_perf_head after = *head;

            ids = word;
            if (line.text == all.text && take_event(rest, &after) == 0) {
                *head = after;
                head->comm = jr_foreign_trim(
                    (struct jr_slice){all.text, (size_t)(ids.text - all.text)});
                return 1;
            }
        } else {
            ids.text = NULL;
        }
    }
    if (!head->has_time || take_event(rest, head) != 0)
        return 0;
    head->comm = jr_foreign_trim(
        (struct jr_slice){all.text, (size_t)(ids.text - all.text)});
    return 1;
}

int jr_foreign_is_perf_frame(struct jr_slice line)
{
    return line.length > 0 && (*line.text == ' ' || *line.text == '\t');
}

/* Takes "(dso)" off the end of the line; its name may have parentheses. */
static struct jr_slice take_dso(struct jr_slice *line)
{
    size_t at = line->length, depth = 0;
    struct jr_slice dso;

    if (!jr_foreign_ends(*line, ")"))
        return (struct jr_slice){NULL, 0};
    while (at > 0) {
        at--;
        if (line->text[at] == ')')
            depth++;
        else if (line->text[at] == '(' && --depth == 0)
            break;
    }
    if (depth > 0 || (at > 0 && line->text[at - 1] != ' '))
        return (struct jr_slice){NULL, 0};
    dso = (struct jr_slice){line->text + at + 1, line->length - at - 2};
    *line = jr_foreign_trim((struct jr_slice){line->text, at});
    if (jr_foreign_ends(dso, " (deleted)"))
        dso.length -= strlen(" (deleted)");
    return dso;
}

/* Drops "+0x1f" behind a symbol. */
static struct jr_slice without_offset(struct jr_slice name)
{
    size_t at = name.length;

    while (at > 0 && strchr("0123456789abcdef", name.text[at - 1]))
        at--;
    if (at > 3 && at < name.length && memcmp(name.text + at - 3, "+0x", 3) == 0)
        name.length = at - 3;
    return name;
}

static int take_hex(struct jr_slice *line, uint64_t *address)
{
    struct jr_slice rest = *line, word = take_word(&rest);

    *address = 0;
    if (word.length == 0 || word.length > 16 || rest.length == 0)
        return -1;
    for (size_t i = 0; i < word.length; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = strchr(digits, word.text[i]);

        if (!word.text[i] || !digit)
            return -1;
        *address = *address << 4 | (uint64_t)(digit - digits);
    }
    *line = rest;
    return 0;
}

static int is(struct jr_slice slice, const char *text)
{
    return slice.length == strlen(text) && jr_foreign_begins(slice, text);
}

/* perf calls code that a perf map or a jitdump describes by the file that has
 * it (tools/perf/jvmti, util/jit.c): /tmp/perf-PID.map, jitted-PID-N.so. */
static int is_jit(struct jr_slice dso)
{
    size_t at = dso.length;

    while (at > 0 && dso.text[at - 1] != '/')
        at--;
    dso.text += at;
    dso.length -= at;
    return is(dso, "[jit]") || jr_foreign_begins(dso, "[JIT]") ||
           (jr_foreign_begins(dso, "perf-") && jr_foreign_ends(dso, ".map")) ||
           (jr_foreign_begins(dso, "jitted-") && jr_foreign_ends(dso, ".so"));
}

/* Makes a place of the functions that were read. */
static void end_chain(struct reading *reading)
{
    struct jr_foreign *foreign = reading->foreign;
    const struct jr_foreign_frame *outer;
    uint32_t place;

    if (reading->nchain == 0)
        return;
    outer = &reading->chain[reading->nchain - 1];
    for (uint32_t i = 0; i + 1 < reading->nchain; i++) {
        reading->chain[i].module = outer->module;
        reading->chain[i].is_jit = outer->is_jit;
    }
    place = jr_foreign_place_of(foreign, &reading->known, reading->chain,
                                reading->nchain, reading->address);
    reading->nchain = 0;
    reading->is_ended = 0;
    if (place == JR_NO_ITEM)
        reading->is_good = 0;
    else
        jr_foreign_push(foreign, &reading->sample, place);
}

static void end_sample(struct reading *reading)
{
    if (!reading->is_open)
        return;
    end_chain(reading);
    jr_foreign_add(reading->foreign, &reading->sample, reading->is_good);
    reading->is_open = 0;
}

/* Takes a frame's line; the functions inlined there come before it, each with
 * "(inlined)" for its dso. */
static void take_frame(struct reading *reading, struct jr_slice line)
{
    struct jr_foreign_frame frame = {.line = 0};
    struct jr_slice dso;
    uint64_t address;
    int is_inlined;

    if (reading->is_ended)
        end_chain(reading);
    line = jr_foreign_trim(line);
    reading->address = take_hex(&line, &address) == 0 ? address : 0;
    dso = take_dso(&line);
    is_inlined = is(dso, "inlined");
    frame.name = without_offset(line);
    frame.is_unnamed = frame.name.length == 0 || is(frame.name, "[unknown]");
    if (frame.is_unnamed)
        frame.name.length = 0;
    frame.is_jit = (uint8_t)is_jit(dso);
    if (frame.is_jit)
        frame.module = (struct jr_slice){"[jit]", 5};
    else if (!is_inlined && !is(dso, "[unknown]"))
        frame.module = dso;
    reading->chain[reading->nchain++] = frame;
    reading->is_ended = !is_inlined || reading->nchain == JR_FOREIGN_LINES;
}

/* The process of a pid; it has the name of its first thread, or of one whose
 * name is read before that one's. */
static uint32_t process_of(struct reading *reading,
                           const struct jr_perf_head *head)
{
    struct jr_foreign *foreign = reading->foreign;
    const uint32_t fresh = (uint32_t)foreign->nprocesses;
    const uint32_t found = jr_table_put(&reading->pids, head->pid, 0, fresh);

    if (found == fresh)
        *JR_PUSH(foreign->processes, foreign->nprocesses,
                 foreign->processes_room) =
            (struct jr_foreign_process){head->pid, head->comm};
    else if (head->pid == head->tid)
        foreign->processes[found].name = head->comm;
    return found;
}

static void set_thread(struct reading *reading, const struct jr_perf_head *head)
{
    struct jr_foreign *foreign = reading->foreign;
    const uint32_t fresh = (uint32_t)foreign->nthreads;
    const uint32_t process = process_of(reading, head);
    /* The idle task is 0 on each processor; a tid of 0 is none here. */
    const uint32_t tid = head->tid ? head->tid : INT32_MAX;

    if (jr_table_put(&reading->tids, tid, process, fresh) == fresh)
        *JR_PUSH(foreign->threads, foreign->nthreads, foreign->threads_room) =
            (struct jr_foreign_thread){process, tid, head->comm};
    reading->sample.process = process;
    reading->sample.tid = tid;
}

/* The name of an event without its modifiers, which perf-list(1) has: of
 * "cpu-clock:pppH" the first word. */
static struct jr_slice plain_event(struct jr_slice event)
{
    size_t at = event.length;

    while (at > 0 && event.text[at - 1] != '\0' &&
           strchr("ukhIGHpPSDWeb", event.text[at - 1]))
        at--;
    if (at > 1 && at < event.length && event.text[at - 1] == ':')
        event.length = at - 1;
    return event;
}

static int is_clock(struct jr_slice type)
{
    return is(type, "cpu-clock") || is(type, "task-clock") ||
           is(type, "wall-clock");
}

/* An event of the text and its samples. */
struct event {
    struct jr_slice type;
    size_t samples;
};

static int is_same(struct jr_slice one, struct jr_slice other)
{
    return one.length == other.length &&
           memcmp(one.text, other.text, one.length) == 0;
}

/* Counts the samples of each event; of further ones than EVENTS_MAX, none.
 * Returns how many events there are. */
static size_t count_events(struct jr_slice text, struct event *events)
{
    struct jr_perf_head head;
    struct jr_slice line;
    size_t count = 0;

    while (jr_foreign_line(&text, &line)) {
        size_t i = 0;

        if (line.length == 0 || strchr("\t#", *line.text) ||
            !jr_foreign_is_perf_head(line, &head))
            continue;
        head.event = plain_event(head.event);
        while (i < count && !is_same(events[i].type, head.event))
            i++;
        if (i == EVENTS_MAX)
            continue;
        if (i == count)
            events[count++] = (struct event){head.event, 0};
        events[i].samples++;
    }
    return count;
}

/* Chooses the event that is shown: a clock, else the one with most samples. */
static void choose_event(struct reading *reading, struct jr_slice text)
{
    struct event events[EVENTS_MAX];
    const size_t count = count_events(text, events);
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (is_clock(events[i].type) == is_clock(events[best].type)
                ? events[i].samples > events[best].samples
                : is_clock(events[i].type))
            best = i;
    if (count > 0)
        reading->foreign->type = events[best].type;
}

/* Clocks count nanoseconds; other events count what their names say. */
static void begin_event(struct reading *reading,
                        const struct jr_perf_head *head)
{
    struct jr_foreign *foreign = reading->foreign;

    reading->has_begun = 1;
    foreign->is_time = head->has_period && is_clock(foreign->type);
    if (!foreign->is_time)
        return;
    foreign->unit = (struct jr_slice){"nanoseconds", 11};
    if (head->period > 0)
        foreign->period_ns = head->period;
}

static int is_of_event(const struct jr_foreign *foreign, struct jr_slice event)
{
    return is_same(plain_event(event), foreign->type);
}

static void begin_sample(struct reading *reading,
                         const struct jr_perf_head *head)
{
    struct jr_foreign *foreign = reading->foreign;
    struct jr_slice rest = head->rest;
    uint64_t address;

    if (!is_of_event(foreign, head->event)) {
        reading->others++;
        return;
    }
    if (!reading->has_begun)
        begin_event(reading, head);
    if (head->has_period && head->period == 0)
        return;
    reading->without += !head->has_period;
    reading->sample = (struct jr_foreign_sample){
        .first = foreign->nstacks,
        .event = is(foreign->type, "wall-clock") ? JP_EVENT_WALL_RUNNING
                                                 : JP_EVENT_CPU,
        .weight_ns = head->has_period ? head->period : foreign->period_ns,
        .time_ns = head->time_ns};
    foreign->has_times |= head->has_time;
    reading->is_good = reading->is_open = 1;
    set_thread(reading, head);
    if (jr_foreign_ends(rest, ")") && take_hex(&rest, &address) == 0)
        take_frame(reading, head->rest);
}

/* With perf script -F +srcline, a frame has its file and line below it, behind
 * two blanks.  Returns 0 where the line is something else. */
static int take_source(struct reading *reading, struct jr_slice line)
{
    struct jr_foreign_frame *frame;
    struct jr_slice digits;
    uint64_t number;
    size_t at;

    if (reading->nchain == 0 || !jr_foreign_begins(line, "  ") ||
        line.length < 4 || line.text[2] == ' ' || line.text[2] == '\t')
        return 0;
    frame = &reading->chain[reading->nchain - 1];
    line = jr_foreign_trim(line);
    for (at = line.length; at > 0 && line.text[at - 1] != ':'; at--)
        ;
    digits = (struct jr_slice){line.text + at, line.length - at};
    if (at > 1 && is_digits(digits) && take_number(&digits, &number) == 0 &&
        number <= INT32_MAX) {
        frame->file = (struct jr_slice){line.text, at - 1};
        frame->line = (uint32_t)number;
        reading->foreign->has_lines |= number > 0;
    }
    return 1;
}

static void take_line(struct reading *reading, struct jr_slice line)
{
    struct jr_perf_head head;

    reading->number++;
    if (jr_foreign_trim(line).length == 0) {
        end_sample(reading);
    } else if (*line.text == '#') {
        return;
    } else if (!(reading->is_open && *line.text == '\t') &&
               jr_foreign_is_perf_head(line, &head)) {
        end_sample(reading);
        begin_sample(reading, &head);
    } else if (jr_foreign_is_perf_frame(line)) {
        if (reading->is_open && !take_source(reading, line))
            take_frame(reading, line);
    } else if (reading->foreign->bad++ == 0) {
        reading->foreign->bad_line = reading->number;
    }
}

int jr_foreign_perf_script(struct jr_foreign *foreign, const char *path,
                           struct jr_diag *diag)
{
    struct reading *reading = jr_alloc(1, sizeof *reading);
    struct jr_slice text = {(const char *)foreign->data, foreign->size}, line;

    reading->foreign = foreign;
    choose_event(reading, text);
    while (jr_foreign_line(&text, &line))
        take_line(reading, line);
    end_sample(reading);
    foreign->has_threads = foreign->nsamples > 0;
    if (reading->others > 0)
        jr_foreign_remark(
            foreign, jr_printf("it has %zu samples of other events, which are "
                               "left out",
                               reading->others));
    if (reading->without > 0)
        jr_foreign_remark(foreign,
                          jr_printf("%zu samples have no period (perf script "
                                    "-F +period); each counts as one",
                                    reading->without));
    jr_index_free(&reading->known.by_hash);
    jr_table_free(&reading->pids);
    jr_table_free(&reading->tids);
    free(reading);
    if (foreign->nsamples > 0)
        return 0;
    jr_warn(diag, path, JR_NO_OFFSET,
            "no sample in it has a period; it is left out");
    return -1;
}
