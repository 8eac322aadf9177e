/* SPDX-License-Identifier: MIT
 *
 * Goes through the chunks in which a thread has samples.  Small threads are
 * read many at a time: short ones share chunks, and formats ask several times.
 * Runs in: analyzer. */
#include "again.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/span.h"
#include "read/walk.h"

#define NO_THREAD (UINT32_MAX - 1)

/* Samples of a process while they are read. */
struct source {
    const struct jr_model *model;
    const struct jr_process *process;
    struct jr_walk *walk;            /* NULL: they are held */
    const struct jr_sample *samples; /* those at hand, */
    size_t at, count;                /* of the walk or of all that are held */
    const uint32_t *numbers;         /* which of those held; NULL: all */
    uint32_t tid;                    /* only this thread's, with one_tid */
    uint8_t one_tid, has_thread;
    uint32_t thread; /* the last one; valid has_thread */
    struct jr_seen seen;
};

/* A thread of the batch: batch[from] to batch[from + got - 1]. */
struct member {
    uint32_t thread;
    size_t from, got;
};

struct jr_again {
    const struct jr_model *model;
    const uint32_t *sequence;
    size_t most; /* samples of a batch; larger threads are in none */
    size_t next; /* in the sequence: behind the batch */
    struct source source;
    int is_open;     /* the source */
    uint32_t *slots; /* by thread: its member, plus one; 0: none */
    struct member *members;
    size_t nmembers, members_room;
    struct jr_seen *batch;
    size_t at, end;    /* what is left of a member, unless is_open */
    uint32_t *numbers; /* scratch: chunks */
    size_t nnumbers, numbers_room;
    uint64_t samples, weight_ns; /* since the last start, and how many there */
    uint64_t all, all_ns;        /* should be */
    uint64_t missed;
};

static int by_number(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* Makes the numbers of the chunks ascend, each once. */
static void put_in_order(struct jr_again *again)
{
    size_t kept = 0;

    if (again->nnumbers > 0)
        qsort(again->numbers, again->nnumbers, sizeof *again->numbers,
              by_number);
    for (size_t i = 0; i < again->nnumbers; i++)
        if (i == 0 || again->numbers[i] != again->numbers[i - 1])
            again->numbers[kept++] = again->numbers[i];
    again->nnumbers = kept;
}

/* Adds the pieces of a thread to again->numbers. */
static void add_pieces(struct jr_again *again, uint32_t thread)
{
    const struct jr_found *found =
        again->model->processes[again->model->threads[thread].process].found;

    for (size_t i = jr_found_pieces(found, thread);
         i < found->npieces && found->pieces[i] >> 32 == thread; i++)
        *JR_PUSH(again->numbers, again->nnumbers, again->numbers_room) =
            (uint32_t)found->pieces[i];
}

/* Begins with the pieces in again->numbers, or with all. */
static void open_source(struct jr_again *again, struct source *source,
                        uint32_t process, int all)
{
    const struct jr_process *of = &again->model->processes[process];
    const struct jr_found *found = of->found;

    *source = (struct source){.model = again->model, .process = of};
    if (found->holds) {
        source->samples = found->held;
        source->numbers = all ? NULL : again->numbers;
        source->count = all ? found->nheld : again->nnumbers;
        return;
    }
    /* Where this fails, no sample is found, which is noticed. */
    (void)jr_log_take_up(found->log);
    source->walk = all ? jr_walk_begin(found->log, of->run, JR_WALK_BY_TIME)
                       : jr_walk_begin_some(found->log, of->run, again->numbers,
                                            again->nnumbers);
}

/* Many processes may have logs: their files are not open all the time. */
static void close_source(struct source *source)
{
    struct jr_log *log = source->process->found->log;

    if (source->walk)
        jr_walk_end(source->walk);
    if (log->is_let_go)
        jr_log_let_go(log);
}

/* The next sample of the source as the log has it, or NULL. */
static const struct jr_sample *next_raw(struct source *source)
{
    if (source->at == source->count) {
        source->at = 0;
        source->count =
            source->walk ? jr_walk_next(source->walk, &source->samples) : 0;
        if (source->count == 0)
            return NULL;
    }
    return source->numbers ? &source->samples[source->numbers[source->at++]]
                           : &source->samples[source->at++];
}

/* The model's number of the sample's thread, NO_THREAD: it has none. */
static uint32_t thread_of(struct source *source, uint32_t tid)
{
    if (!source->has_thread ||
        source->model->threads[source->thread].tid != tid) {
        source->thread =
            jr_table_put(&source->process->found->tids, tid, 0, NO_THREAD);
        source->has_thread = source->thread != NO_THREAD;
    }
    return source->thread;
}

/* The next sample of the source that counts, or NULL. */
static const struct jr_seen *next_of(struct source *source)
{
    const struct jr_filter *filter = &source->model->filter;
    const struct jr_sample *sample;

    while ((sample = next_raw(source)) != NULL) {
        uint32_t node, thread;

        if ((source->one_tid && sample->tid != source->tid) ||
            jr_span_asks(filter, source->process, sample) != JR_ASKED)
            continue;
        node = jr_found_at(source->process->found,
                           jr_answer_number(filter, sample), sample->time_ns);
        thread = node ? thread_of(source, sample->tid) : NO_THREAD;
        if (thread == NO_THREAD)
            continue;
        source->seen = (struct jr_seen){.time_ns = sample->time_ns,
                                        .weight_ns = sample->weight_ns,
                                        .node = node,
                                        .spot = JR_NO_SPOT,
                                        .thread = thread & (JR_THREADS_MAX - 1),
                                        .event = sample->event & 15U};
        return &source->seen;
    }
    return NULL;
}

struct jr_again *jr_again_begin(const struct jr_model *model,
                                const uint32_t *sequence, size_t most)
{
    struct jr_again *again = jr_alloc(1, sizeof *again);

    again->model = model;
    again->sequence = sequence;
    again->most = most;
    again->slots = jr_alloc(model->nthreads + 1, sizeof *again->slots);
    return again;
}

/* Leaves the thread or process that the caller was in. */
static void leave(struct jr_again *again)
{
    if (again->is_open)
        close_source(&again->source);
    again->is_open = 0;
    again->at = again->end = 0;
}

uint64_t jr_again_end(struct jr_again *again)
{
    const uint64_t missed = again->missed;

    leave(again);
    free(again->slots);
    free(again->members);
    free(again->batch);
    free(again->numbers);
    free(again);
    return missed;
}

static uint32_t in_sequence(const struct jr_again *again, size_t at)
{
    return again->sequence ? again->sequence[at] : (uint32_t)at;
}

static int is_small(const struct jr_again *again, uint32_t thread)
{
    return again->model->threads[thread].samples <= again->most;
}

/* Chooses the members of a batch: the small threads from `at` on in the
 * sequence, of as many samples as it may hold. */
static void choose(struct jr_again *again, size_t at)
{
    const struct jr_model *model = again->model;
    size_t sum = 0;

    for (size_t i = 0; i < again->nmembers; i++)
        again->slots[again->members[i].thread] = 0;
    again->nmembers = 0;
    for (; at < model->nthreads; at++) {
        const uint32_t thread = in_sequence(again, at);

        if (!is_small(again, thread))
            continue;
        if (sum + model->threads[thread].samples > again->most)
            break;
        *JR_PUSH(again->members, again->nmembers, again->members_room) =
            (struct member){.thread = thread, .from = sum};
        again->slots[thread] = (uint32_t)again->nmembers;
        sum += model->threads[thread].samples;
    }
    again->next = at;
}

/* Puts a sample in the batch, if it is of a member. */
static void put(struct jr_again *again, const struct jr_seen *seen)
{
    const uint32_t slot = again->slots[seen->thread];
    struct member *member;

    if (slot == 0)
        return;
    member = &again->members[slot - 1];
    /* A log that was changed may have more. */
    if (member->got < again->model->threads[seen->thread].samples)
        again->batch[member->from + member->got++] = *seen;
}

/* Reads the batch's samples of a process: of these `count` threads of it. */
static void fill_of(struct jr_again *again, const uint32_t *threads,
                    size_t count)
{
    struct source source;
    const struct jr_seen *seen;

    again->nnumbers = 0;
    for (size_t i = 0; i < count; i++)
        add_pieces(again, threads[i]);
    put_in_order(again);
    open_source(again, &source, again->model->threads[threads[0]].process, 0);
    while ((seen = next_of(&source)) != NULL)
        put(again, seen);
    close_source(&source);
}

static void fill(struct jr_again *again)
{
    const struct jr_thread *of = again->model->threads;
    uint32_t *threads = jr_alloc(again->nmembers, sizeof *threads);
    size_t end;

    if (!again->batch)
        again->batch = jr_alloc(again->most, sizeof *again->batch);
    for (size_t i = 0; i < again->nmembers; i++)
        threads[i] = again->members[i].thread;
    /* Those of a process stand together then. */
    qsort(threads, again->nmembers, sizeof *threads, by_number);
    for (size_t i = 0; i < again->nmembers; i = end) {
        for (end = i + 1; end < again->nmembers &&
                          of[threads[end]].process == of[threads[i]].process;)
            end++;
        fill_of(again, threads + i, end - i);
    }
    free(threads);
}

/* Where a thread is in the sequence, which is mostly behind the batch. */
static size_t place_of(const struct jr_again *again, uint32_t thread)
{
    size_t at = again->next;

    for (size_t i = 0; i < again->model->nthreads; i++, at++) {
        if (at >= again->model->nthreads)
            at = 0;
        if (in_sequence(again, at) == thread)
            break;
    }
    return at;
}

/* Notes how many samples are to come; *again is between two threads. */
static void expect(struct jr_again *again, uint64_t samples, uint64_t weight_ns)
{
    again->samples = again->weight_ns = 0;
    again->all = samples;
    again->all_ns = weight_ns;
}

void jr_again_thread(struct jr_again *again, uint32_t thread)
{
    const struct jr_thread *of = &again->model->threads[thread];
    const struct member *member;

    leave(again);
    expect(again, of->samples, of->weight_ns);
    if (!is_small(again, thread)) {
        again->nnumbers = 0;
        add_pieces(again, thread);
        open_source(again, &again->source, of->process, 0);
        again->source.one_tid = 1;
        again->source.tid = of->tid;
        again->is_open = 1;
        return;
    }
    if (again->slots[thread] == 0) {
        choose(again, place_of(again, thread));
        fill(again);
    }
    member = &again->members[again->slots[thread] - 1];
    again->at = member->from;
    again->end = member->from + member->got;
}

void jr_again_process(struct jr_again *again, uint32_t process)
{
    const struct jr_stats *stats = &again->model->processes[process].stats;

    leave(again);
    expect(again, stats->samples, stats->weight_ns);
    open_source(again, &again->source, process, 1);
    again->is_open = 1;
}

/* Compares, at its end, what came with what the first pass counted. */
static void check(struct jr_again *again)
{
    if (again->samples != again->all)
        again->missed += again->samples < again->all
                             ? again->all - again->samples
                             : again->samples - again->all;
    else if (again->weight_ns != again->all_ns)
        again->missed += again->samples;
    again->all = again->samples;
    again->all_ns = again->weight_ns;
}

const struct jr_seen *jr_again_next(struct jr_again *again)
{
    const struct jr_seen *seen = NULL;

    if (again->is_open)
        seen = next_of(&again->source);
    else if (again->at < again->end)
        seen = &again->batch[again->at++];
    if (seen) {
        again->samples++;
        again->weight_ns = jr_add(again->weight_ns, seen->weight_ns);
    } else {
        check(again);
    }
    return seen;
}
