/* SPDX-License-Identifier: MIT
 *
 * Matches the begins and ends of spans.
 * Runs in: analyzer. */
#include "marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/table.h"

#define NONE UINT32_MAX

/* A span that has begun. */
struct begun {
    uint32_t mark;               /* of struct matching.items */
    uint32_t of_thread, of_name; /* the one before it; NONE: none */
    uint8_t ended;
};

struct matching {
    const struct jr_run *run;
    struct jr_marks *marks;
    struct jr_index by_name;             /* of marks->names */
    struct jr_table by_thread;           /* (name, tid) -> heads_thread */
    uint32_t *heads_thread, *heads_name; /* the last one begun */
    size_t nheads, heads_room, nnames, names_room;
    struct begun *begun;
    size_t nbegun, begun_room;
    struct jr_marked *items;
    size_t count, room;
};

void jr_marks_free(struct jr_marks *marks)
{
    for (size_t i = 0; i < marks->nnames; i++)
        free(marks->names[i]);
    free(marks->names);
    free(marks->items);
    *marks = (struct jr_marks){0};
}

static uint32_t name_of(struct matching *matching, const char *text,
                        size_t length)
{
    struct jr_marks *marks = matching->marks;
    const uint32_t hash = jr_hash_text(text, length);
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&matching->by_name, hash, &at)) != JR_NO_ITEM)
        if (strlen(marks->names[found]) == length &&
            memcmp(marks->names[found], text, length) == 0)
            return found;
    found = (uint32_t)marks->nnames;
    jr_index_add(&matching->by_name, hash, found);
    *JR_PUSH(marks->names, marks->nnames, marks->names_room) =
        jr_strndup(text, length);
    return found;
}

static uint32_t *head_of_name(struct matching *matching, uint32_t name)
{
    while (matching->nnames <= name)
        *JR_PUSH(matching->heads_name, matching->nnames, matching->names_room) =
            NONE;
    return &matching->heads_name[name];
}

static uint32_t *head_of_thread(struct matching *matching, uint32_t name,
                                uint32_t tid)
{
    const uint32_t fresh = (uint32_t)matching->nheads;
    const uint32_t at = jr_table_put(&matching->by_thread, name, tid, fresh);

    if (at == fresh)
        *JR_PUSH(matching->heads_thread, matching->nheads,
                 matching->heads_room) = NONE;
    return &matching->heads_thread[at];
}

static void begin(struct matching *matching, uint32_t mark)
{
    const struct jr_marked *of = &matching->items[mark];
    const uint32_t number = (uint32_t)matching->nbegun;
    uint32_t *thread = head_of_thread(matching, of->name, of->tid);
    uint32_t *name = head_of_name(matching, of->name);

    *JR_PUSH(matching->begun, matching->nbegun, matching->begun_room) =
        (struct begun){.mark = mark, .of_thread = *thread, .of_name = *name};
    *thread = *name = number;
}

/* The span that an end belongs to, which is ended with it; NONE: none. */
static uint32_t take_begun(struct matching *matching, uint32_t name,
                           uint32_t tid)
{
    struct begun *begun = matching->begun;
    uint32_t *of_thread = head_of_thread(matching, name, tid);
    uint32_t *of_name = head_of_name(matching, name);
    uint32_t found;

    if (begun == NULL)
        return NONE;
    while (*of_thread != NONE && begun[*of_thread].ended)
        *of_thread = begun[*of_thread].of_thread;
    while (*of_name != NONE && begun[*of_name].ended)
        *of_name = begun[*of_name].of_name;
    found = *of_thread != NONE ? *of_thread : *of_name;
    if (found == NONE)
        return NONE;
    begun[found].ended = 1;
    return begun[found].mark;
}

static int by_time(const void *left, const void *right)
{
    const struct jr_mark *a = *(const struct jr_mark *const *)left;
    const struct jr_mark *b = *(const struct jr_mark *const *)right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The run's marks in order of time, those of one time in that of the file.  The
 * caller frees the array. */
static const struct jr_mark **in_order(const struct jr_run *run)
{
    const struct jr_mark **order = jr_alloc(run->nmarks + 1, sizeof(*order));

    for (size_t i = 0; i < run->nmarks; i++)
        order[i] = &run->marks[i];
    qsort(order, run->nmarks, sizeof(*order), by_time);
    return order;
}

/* A process goes on for a while after what is last known of it. */
#define AFTER_NS UINT64_C(1000000000)

/* A span whose ends came together.  What begins after the run's last time is
 * of the next program of the same process; an end long after it may be any
 * number, and is none. */
static void add_measure(struct matching *matching, const struct jr_mark *mark,
                        const struct jr_marks_of *of, uint32_t name)
{
    const int is_open =
        mark->until_ns > of->last_ns && mark->until_ns - of->last_ns > AFTER_NS;

    if (mark->time_ns > of->last_ns)
        return;
    *JR_PUSH(matching->items, matching->count, matching->room) =
        (struct jr_marked){.time_ns = mark->time_ns,
                           .until_ns = is_open ? of->last_ns : mark->until_ns,
                           .process = of->process,
                           .tid = mark->tid,
                           .name = name,
                           .kind = is_open ? JR_MARKED_OPEN : JR_MARKED_SPAN};
}

static void add_mark(struct matching *matching, const struct jr_mark *mark,
                     const struct jr_marks_of *of)
{
    const uint32_t name =
        name_of(matching, matching->run->mark_names + mark->name, mark->length);
    uint32_t begun = NONE;

    if (mark->kind == JR_MARK_MEASURE) {
        add_measure(matching, mark, of, name);
        return;
    }
    if (mark->kind == JP_MARK_SPAN_END)
        begun = take_begun(matching, name, mark->tid);
    if (begun != NONE) {
        matching->items[begun].until_ns = mark->time_ns;
        matching->items[begun].kind = JR_MARKED_SPAN;
        return;
    }
    *JR_PUSH(matching->items, matching->count, matching->room) =
        (struct jr_marked){.time_ns = mark->time_ns,
                           .until_ns = mark->time_ns,
                           .process = of->process,
                           .tid = mark->tid,
                           .name = name,
                           .kind = mark->kind == JP_MARK_SPAN_END
                                       ? JR_MARKED_END
                                       : JR_MARKED_POINT};
    if (mark->kind != JP_MARK_SPAN_BEGIN)
        return;
    matching->items[matching->count - 1].kind = JR_MARKED_OPEN;
    if (of->last_ns > mark->time_ns)
        matching->items[matching->count - 1].until_ns = of->last_ns;
    begin(matching, (uint32_t)(matching->count - 1));
}

/* Keeps what is selected. */
static void select_marks(struct matching *matching,
                         const struct jr_marks_of *of)
{
    for (size_t i = 0; i < matching->count; i++) {
        const struct jr_marked *item = &matching->items[i];

        if (item->time_ns >= of->until_ns ||
            (item->until_ns <= of->from_ns && item->time_ns < of->from_ns) ||
            (of->tid != 0 && item->tid != of->tid))
            continue;
        *JR_PUSH(matching->marks->items, matching->marks->count,
                 matching->marks->room) = *item;
    }
}

void jr_marks_add(struct jr_marks *marks, const struct jr_run *run,
                  const struct jr_marks_of *of)
{
    struct matching matching = {.run = run, .marks = marks};
    const struct jr_mark **order;

    if (run->nmarks == 0)
        return;
    for (size_t i = 0; i < marks->nnames; i++)
        jr_index_add(&matching.by_name,
                     jr_hash_text(marks->names[i], strlen(marks->names[i])),
                     (uint32_t)i);
    order = in_order(run);
    for (size_t i = 0; i < run->nmarks && i < NONE; i++)
        add_mark(&matching, order[i], of);
    select_marks(&matching, of);
    free(order);
    free(matching.items);
    free(matching.begun);
    free(matching.heads_thread);
    free(matching.heads_name);
    jr_table_free(&matching.by_thread);
    jr_index_free(&matching.by_name);
}

static int heavier(const void *left, const void *right)
{
    const struct jr_mark_sum *a = left, *b = right;

    if (a->is_span != b->is_span)
        return a->is_span ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static void sum_up(struct jr_mark_sum *sum, const struct jr_marked *item)
{
    const uint64_t ns = item->until_ns - item->time_ns;

    if (sum->count++ == 0 || (sum->is_span && ns > sum->longest_ns)) {
        sum->longest_ns = ns;
        sum->first_ns = item->time_ns;
        sum->first_process = item->process;
    }
    sum->open += item->kind == JR_MARKED_OPEN || item->kind == JR_MARKED_END;
    if (__builtin_add_overflow(sum->total_ns, ns, &sum->total_ns))
        sum->total_ns = UINT64_MAX;
}

struct jr_mark_sum *jr_marks_sums(const struct jr_marks *marks, size_t *count)
{
    struct jr_mark_sum *sums = jr_alloc(2 * marks->nnames + 1, sizeof(*sums));
    size_t kept = 0;

    for (size_t i = 0; i < marks->count; i++) {
        const struct jr_marked *item = &marks->items[i];
        const int is_span = item->kind != JR_MARKED_POINT;
        struct jr_mark_sum *sum = &sums[2 * (size_t)item->name + is_span];

        sum->name = item->name;
        sum->is_span = (uint8_t)is_span;
        sum_up(sum, item);
    }
    for (size_t i = 0; i < 2 * marks->nnames; i++)
        if (sums[i].count > 0)
            sums[kept++] = sums[i];
    qsort(sums, kept, sizeof(*sums), heavier);
    *count = kept;
    return sums;
}
