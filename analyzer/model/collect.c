/* SPDX-License-Identifier: MIT
 *
 * Samples to leaves of the tree.  The sums of a run's stacks are enough, unless
 * a view needs threads or times, or a stack changed its meaning.  A stack is
 * resolved anew for a sample outside the time for which its names hold.
 * Runs in: analyzer. */
#include "collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "build.h"
#include "jp_limits.h"
#include "model/marks/inside.h"
#include "read/walk.h"
#include "resolve.h"
#include "span.h"

#define PROGRESS_SAMPLES 65536
#define PROGRESS_STACKS 256
#define SLICE_LEAST_NS 1000000ULL      /* of kept samples: the first slice, */
#define SLICE_MOST_NS 3600000000000ULL /* and the last one */

/* What is known of one stack of the run that is being added. */
struct answer {
    struct jr_stack_answer is;
    uint32_t leaf, bucket; /* the leaf last used, plus one; 0: none yet */
};

/* The kept sample last used of one stack, plus one; valid while jr_model.slices
 * is `slices`. */
struct kept {
    uint32_t seen, slices;
};

struct adding {
    struct jr_model *model;
    struct jr_process *process;
    struct jr_resolver *resolver;
    struct answer *answers; /* one a stack of the run, and event if asked */
    struct kept *kept;      /* the same, with JR_NEEDS_SAMPLE_LIST */
    uint32_t bucket, bucket_tid; /* the last one used; valid has_bucket */
    uint8_t has_bucket, bucket_event;
    struct jr_table tids, tid_events; /* buckets */
    uint32_t thread;                  /* the last one kept; valid has_thread */
    uint8_t has_thread;
    struct jr_table threads;
    uint32_t chunk;   /* of the samples that are added now */
    uint8_t *changed; /* by stack: its sums lie in the times of several answers,
                         so its samples are asked for; NULL: all are */
    uint64_t asked;   /* samples of such stacks */
};

static struct answer *answer_of(const struct adding *adding,
                                const struct jr_sample *sample)
{
    return &adding->answers[jr_answer_number(&adding->model->filter, sample)];
}

static uint32_t process_of(const struct adding *adding)
{
    return (uint32_t)(adding->process - adding->model->processes);
}

/* The bucket of a sample, and the count of threads. */
static uint32_t bucket_of(struct adding *adding, const struct jr_sample *sample)
{
    struct jr_model *model = adding->model;
    const struct jr_filter *filter = &model->filter;
    const uint32_t tid = sample->tid;
    const int by_event = jr_filter_needs(filter, JR_NEEDS_EVENT_SUMS);
    const int of_thread = filter->by_thread || by_event;
    const uint32_t fresh = (uint32_t)model->nbuckets;
    const size_t known = adding->tids.used;

    if (adding->has_bucket && adding->bucket_tid == tid &&
        (!by_event || adding->bucket_event == sample->event))
        return adding->bucket;
    /* Unless each thread has a bucket, all have that of the first. */
    adding->bucket =
        jr_table_put(&adding->tids, tid, 0,
                     of_thread || known == 0 ? fresh : adding->bucket);
    if (adding->tids.used > known)
        adding->process->stats.threads++;
    if (by_event)
        adding->bucket =
            jr_table_put(&adding->tid_events, tid, sample->event, fresh);
    if (adding->bucket == fresh)
        *JR_PUSH(model->buckets, model->nbuckets, model->buckets_room) =
            (struct jr_bucket){.process = process_of(adding),
                               .tid = of_thread ? tid : 0,
                               .event = by_event ? sample->event : 0};
    adding->bucket_tid = tid;
    adding->bucket_event = sample->event;
    adding->has_bucket = 1;
    return adding->bucket;
}

_Static_assert(JP_EVENT_COUNT <= 16, "jr_seen.event holds an event");

/* The number of the sample's thread among the model's. */
static uint32_t thread_of(struct adding *adding, uint32_t tid)
{
    struct jr_model *model = adding->model;
    const size_t known = adding->threads.used;
    uint32_t thread;

    if (adding->has_thread && model->threads[adding->thread].tid == tid)
        return adding->thread;
    /* Beyond what a sample can name, all are the last one. */
    thread = jr_table_put(&adding->threads, tid, 0,
                          model->nthreads < JR_THREADS_MAX
                              ? (uint32_t)model->nthreads
                              : JR_THREADS_MAX - 1);
    if (adding->threads.used > known && model->nthreads < JR_THREADS_MAX)
        *JR_PUSH(model->threads, model->nthreads, model->threads_room) =
            (struct jr_thread){.process = process_of(adding), .tid = tid};
    adding->thread = thread;
    adding->has_thread = 1;
    return thread;
}

/* Whether two samples of a process are one. */
static int is_one(const struct jr_model *model, const struct jr_seen *a,
                  const struct jr_seen *b)
{
    const struct jr_map *map =
        model->processes[model->threads[a->thread].process].map;

    return a->thread == b->thread && a->node == b->node && a->spot == b->spot &&
           a->event == b->event &&
           a->time_ns / model->slice_ns == b->time_ns / model->slice_ns &&
           jr_span_section(map, a->time_ns) == jr_span_section(map, b->time_ns);
}

/* Makes samples of one slice one, slices being four times as long as before.
 * Those of a process stand in order of time, so what can be one with a sample
 * is the last that was kept of its thread, event and place: what this takes
 * grows with those, not with samples. */
static void merge_seen(struct jr_model *model)
{
    struct jr_table kinds = {0};
    uint32_t *last = NULL; /* by kind: the sample, plus one */
    size_t nlast = 0, room = 0, kept = 0;

    model->slice_ns = model->slice_ns ? 4 * model->slice_ns : SLICE_LEAST_NS;
    model->slices++;
    for (size_t i = 0; i < model->nseen; i++) {
        const struct jr_seen seen = model->seen[i];
        const uint32_t kind = jr_table_put(
            &kinds, (uint64_t)seen.node << 32 | seen.spot,
            (uint64_t)seen.event << 32 | seen.thread, (uint32_t)kinds.used);

        if (kind >= nlast)
            *JR_PUSH(last, nlast, room) = 0;
        if (last[kind] > 0 &&
            is_one(model, &model->seen[last[kind] - 1], &seen)) {
            struct jr_seen *one = &model->seen[last[kind] - 1];

            one->weight_ns = jr_add(one->weight_ns, seen.weight_ns);
        } else {
            model->seen[kept++] = seen;
            last[kind] = (uint32_t)kept;
        }
    }
    model->nseen = kept;
    jr_table_free(&kinds);
    free(last);
}

static void count_thread(struct jr_thread *thread,
                         const struct jr_sample *sample)
{
    if (thread->samples++ == 0)
        thread->first_ns = sample->time_ns;
    thread->last_ns = sample->time_ns;
    thread->weight_ns = jr_add(thread->weight_ns, sample->weight_ns);
}

static void keep(struct adding *adding, const struct jr_sample *sample,
                 const struct answer *answer, uint32_t number)
{
    struct jr_model *model = adding->model;
    struct kept *kept = &adding->kept[answer - adding->answers];
    const struct jr_seen seen = {.time_ns = sample->time_ns,
                                 .weight_ns = sample->weight_ns,
                                 .node = answer->is.node,
                                 .spot = answer->is.spot,
                                 .thread = number & (JR_THREADS_MAX - 1),
                                 .event = sample->event & 15U};

    if (model->slice_ns > 0 && kept->seen > 0 &&
        kept->slices == model->slices &&
        is_one(model, &model->seen[kept->seen - 1], &seen)) {
        struct jr_seen *one = &model->seen[kept->seen - 1];

        one->weight_ns = jr_add(one->weight_ns, sample->weight_ns);
        return;
    }
    *JR_PUSH(model->seen, model->nseen, model->seen_room) = seen;
    kept->seen = (uint32_t)model->nseen;
    kept->slices = model->slices;
    if (model->filter.most_samples == 0 ||
        model->nseen < model->filter.most_samples)
        return;
    /* Much less are left, so that this is not done again soon. */
    while (model->nseen > model->filter.most_samples / 4 * 3 &&
           model->slice_ns < SLICE_MOST_NS)
        merge_seen(model);
}

/* The number of the leaf of a node in a bucket. */
static uint32_t find_leaf(struct jr_model *model, uint32_t bucket,
                          uint32_t node)
{
    const uint32_t hash = jr_hash(bucket, node);
    size_t at = hash;
    uint32_t found;

    while ((found = jr_index_next(&model->by_leaf, hash, &at)) != JR_NO_ITEM)
        if (model->leaves[found].bucket == bucket &&
            model->leaves[found].node == node)
            return found;
    found = (uint32_t)model->nleaves;
    jr_index_add(&model->by_leaf, hash, found);
    *JR_PUSH(model->leaves, model->nleaves, model->leaves_room) =
        (struct jr_leaf){.bucket = bucket, .node = node};
    return found;
}

static struct jr_leaf *leaf_of(struct adding *adding, struct answer *answer,
                               uint32_t bucket)
{
    if (answer->leaf == 0 || answer->bucket != bucket) {
        answer->leaf = find_leaf(adding->model, bucket, answer->is.node) + 1;
        answer->bucket = bucket;
    }
    return &adding->model->leaves[answer->leaf - 1];
}

/* Counts `samples` of a kind, whose weight is that of *sample. */
static void count(struct jr_stats *stats, const struct jr_sample *sample,
                  uint64_t samples, const struct jr_stack_answer *answer)
{
    uint64_t weight = sample->weight_ns;

    stats->samples += samples;
    stats->weight_ns = jr_add(stats->weight_ns, weight);
    if (sample->event == JP_EVENT_CPU || sample->event == JP_EVENT_WALL_RUNNING)
        stats->cpu_ns = jr_add(stats->cpu_ns, weight);
    if (sample->event == JP_EVENT_WALL_BLOCKED)
        stats->blocked_ns = jr_add(stats->blocked_ns, weight);
    if (sample->event == JP_EVENT_WALL_READY)
        stats->ready_ns = jr_add(stats->ready_ns, weight);
    /* A thread that waits is left alone: its samples say nothing of a rate. */
    if (sample->event == JP_EVENT_CPU ||
        sample->event == JP_EVENT_WALL_RUNNING) {
        stats->timer_samples += samples;
        stats->timer_ns = jr_add(stats->timer_ns, weight);
    }
    stats->reasons[answer->fiber ? JP_REASON_FIBER : sample->reason] += samples;
    stats->frames += samples * answer->frames;
    stats->inlined_frames += samples * answer->inlined;
    stats->lines_known += samples * answer->lines;
    stats->unnamed_frames += samples * answer->unnamed;
    if (answer->bare)
        stats->bare_ns = jr_add(stats->bare_ns, weight);
    if (answer->nameless)
        stats->nameless_ns = jr_add(stats->nameless_ns, weight);
    stats->jit_frames += samples * answer->jit;
    stats->jit_named += samples * answer->jit_named;
    stats->jit_late += samples * answer->jit_late;
}

/* Counts a sample of a thread, and keeps it or how to find it again. */
static void keep_asked(struct adding *adding, const struct jr_sample *sample,
                       const struct answer *answer)
{
    struct jr_model *model = adding->model;
    const uint32_t number = thread_of(adding, sample->tid);

    count_thread(&model->threads[number], sample);
    if (adding->process->found)
        jr_found_sample(adding->process->found, number, adding->chunk, sample);
    if (jr_filter_needs(&model->filter, JR_NEEDS_SAMPLE_LIST))
        keep(adding, sample, answer, number);
}

/* Resolves the stack of a sample unless what is known holds; returns whether
 * it had to, which may take long. */
static int resolve(struct adding *adding, const struct jr_sample *sample,
                   struct answer *answer)
{
    const uint32_t before =
        answer->is.until_ns == 0 ? JR_NO_ITEM : answer->is.node;

    if (sample->time_ns >= answer->is.from_ns &&
        sample->time_ns < answer->is.until_ns)
        return 0;
    answer->leaf = 0;
    jr_resolve(adding->resolver, sample, &answer->is);
    if (adding->process->found)
        jr_found_node(adding->process->found,
                      (size_t)(answer - adding->answers), sample->time_ns,
                      before, answer->is.node);
    return 1;
}

/* Adds so many samples of a kind, whose weight is that of *sample; their answer
 * holds for all of them.  Returns whether the stack had to be resolved. */
static int add_sample(struct adding *adding, const struct jr_sample *sample,
                      uint64_t samples)
{
    struct answer *answer = answer_of(adding, sample);
    struct jr_stats *stats = &adding->process->stats;
    struct jr_leaf *leaf;
    struct jr_bucket *bucket;
    const int slow = resolve(adding, sample, answer);

    if (jr_is_real(sample->event))
        jr_times_add(&adding->model->times, process_of(adding), answer->is.node,
                     sample);
    if (answer->is.node == 0) {
        stats->filtered += samples;
        return slow;
    }
    leaf = leaf_of(adding, answer, bucket_of(adding, sample));
    bucket = &adding->model->buckets[leaf->bucket];
    leaf->samples += samples;
    leaf->weight_ns = jr_add(leaf->weight_ns, sample->weight_ns);
    bucket->samples += samples;
    bucket->weight_ns = jr_add(bucket->weight_ns, sample->weight_ns);
    if (answer->is.spot != JR_NO_SPOT) {
        struct jr_spot *spot = &adding->model->spots[answer->is.spot];

        spot->samples += samples;
        if (sample->time_ns < spot->time_ns)
            spot->time_ns = sample->time_ns;
        spot->weight_ns = jr_add(spot->weight_ns, sample->weight_ns);
    }
    count(stats, sample, samples, &answer->is);
    if (adding->kept || adding->process->found)
        keep_asked(adding, sample, answer);
    return slow;
}

/* Returns whether the sample's stack had to be resolved. */
static int add_if_asked(struct adding *adding, const struct jr_sample *sample)
{
    const enum jr_asked asked =
        jr_span_asks(&adding->model->filter, adding->process, sample);

    if (asked == JR_ASKED)
        return add_sample(adding, sample, 1);
    if (asked == JR_ASKED_NOT_HERE && jr_is_real(sample->event))
        jr_times_add(&adding->model->times, process_of(adding), 0, sample);
    return 0;
}

/* Real time, and samples that are kept, need the order of time.  Without it,
 * what a thread needs of the model stays at hand. */
static enum jr_walk_order order_for(const struct jr_model *model,
                                    const struct jr_run *run)
{
    for (unsigned event = 0; event < JP_EVENT_COUNT; event++) {
        if ((run->events >> event & 1) && jr_is_real((uint8_t)event))
            return JR_WALK_BY_TIME;
    }
    return jr_filter_needs(&model->filter,
                           JR_NEEDS_SAMPLE_LIST | JR_NEEDS_REPLAY)
               ? JR_WALK_BY_TIME
               : JR_WALK_BY_THREAD;
}

static void tell(const struct adding *adding, uint64_t done)
{
    const struct jr_model *model = adding->model;

    if (model->progress != NULL)
        model->progress(model->progress_data, done,
                        adding->process->run->nsamples);
}

/* Goes through the samples, or those of stacks that changed. */
static void add_samples(struct adding *adding, const struct jr_log *log,
                        enum jr_walk_order order)
{
    const struct jr_run *run = adding->process->run;
    struct jr_walk *walk = jr_walk_begin(log, run, order);
    const struct jr_sample *samples;
    uint64_t done = 0, told = 0, slow = 0, found = 0;
    size_t count;

    while ((count = jr_walk_next(walk, &samples)) > 0) {
        adding->chunk = jr_walk_chunk(walk);
        for (size_t i = 0; i < count; i++) {
            if (adding->changed && !adding->changed[samples[i].stack])
                continue;
            found++;
            slow += (uint64_t)add_if_asked(adding, &samples[i]);
        }
        done += count;
        if (done - told >= PROGRESS_SAMPLES || slow >= PROGRESS_STACKS) {
            tell(adding, done);
            told = done;
            slow = 0;
        }
    }
    adding->process->stats.gone = adding->asked - found;
    jr_walk_end(walk);
}

/* Whether the sums of stacks say all that is asked for. */
static int takes_sums(const struct adding *adding)
{
    const struct jr_filter *filter = &adding->model->filter;
    const struct jr_process *process = adding->process;
    const struct jr_run *run = process->run;

    return order_for(adding->model, run) == JR_WALK_BY_THREAD &&
           (run->sums.count > 0 || run->nsamples == 0) && !filter->by_thread &&
           !jr_filter_needs(filter, JR_NEEDS_EVENT_SUMS) && filter->tid == 0 &&
           filter->events == 0 && filter->nspans == 0 &&
           filter->ninclude == 0 && filter->nexclude == 0 &&
           process->span.from_ns <= run->first_ns &&
           process->span.until_ns > run->last_ns;
}

/* Resolves a stack by the first of its sums; returns whether that holds for all
 * of them. */
static int holds_for_all(struct adding *adding, const struct jr_sum *sum,
                         uint64_t *slow)
{
    const struct jr_sums *sums = &adding->process->run->sums;
    uint64_t first_ns = sum->first_ns, last_ns = sum->last_ns;

    for (uint32_t at = sum->next; at != 0; at = sums->items[at].next) {
        if (sums->items[at].first_ns < first_ns)
            first_ns = sums->items[at].first_ns;
        if (sums->items[at].last_ns > last_ns)
            last_ns = sums->items[at].last_ns;
    }
    const struct jr_sample sample = {
        .time_ns = first_ns, .stack = sum->stack, .event = sum->event};
    struct answer *answer = answer_of(adding, &sample);

    *slow += (uint64_t)resolve(adding, &sample, answer);
    return answer->is.until_ns > last_ns;
}

/* Adds the sums of stacks that are the same at all times; of others the samples
 * are to be gone through: adding->changed, if there are any. */
static void add_sums(struct adding *adding)
{
    const struct jr_run *run = adding->process->run;
    const struct jr_sums *sums = &run->sums;
    uint8_t *changed = jr_alloc(run->stacks.count, 1);
    uint64_t slow = 0, done = 0;

    adding->asked = 0;
    for (size_t i = 0; i < sums->count; i++) {
        const struct jr_sum *sum = &sums->items[i];

        if (sums->heads[sum->stack] == i + 1)
            changed[sum->stack] = !holds_for_all(adding, sum, &slow);
        if (changed[sum->stack])
            adding->asked += sum->samples;
        else
            add_sample(adding,
                       &(struct jr_sample){.time_ns = sum->first_ns,
                                           .weight_ns = sum->weight_ns,
                                           .stack = sum->stack,
                                           .event = sum->event,
                                           .reason = sum->reason},
                       sum->samples);
        done += sum->samples;
        if (slow >= PROGRESS_STACKS) {
            tell(adding, done);
            slow = 0;
        }
    }
    adding->changed = changed;
}

static void add_run(struct adding *adding, const struct jr_log *log)
{
    const struct jr_run *run = adding->process->run;
    const int by_sums = takes_sums(adding);

    adding->asked = run->nsamples;
    if (by_sums)
        add_sums(adding);
    if (adding->asked > 0)
        add_samples(adding, log, order_for(adding->model, run));
    if (by_sums)
        adding->process->stats.threads = run->sums.tids.used;
    free(adding->changed);
}

/* Ends real time: what is unsure of the threads' last samples, and the time of
 * waiting threads that no sample stands for, since the process was killed or
 * goes on.  `first` is the process's first thread in real time. */
static void end_times(struct jr_model *model, struct jr_process *process,
                      size_t first)
{
    const uint32_t events = model->filter.events;
    const uint64_t last_ns = jr_span_last(process);
    const int is_last = process->span.until_ns >= last_ns;
    struct jr_ending ending = {.first = first,
                               .end_ns =
                                   is_last ? last_ns : process->span.until_ns,
                               .period_ns = model->period_ns};

    jr_times_end(&model->times, model->nodes.items, &ending);
    if (process->map->exited || !is_last ||
        (events != 0 && (events >> JP_EVENT_WALL_BLOCKED & 1) == 0))
        return;
    process->stats.open_ns =
        jr_times_open(&model->times, &ending, &process->stats.open);
}

/* The marks of the process, and with --span the spans that are asked for. */
static void add_marks(struct adding *adding)
{
    struct jr_model *model = adding->model;
    struct jr_process *process = adding->process;
    const struct jr_filter *filter = &model->filter;
    const struct jr_marks_of of = {.process = process_of(adding),
                                   .tid = filter->tid,
                                   .from_ns = process->span.from_ns,
                                   .until_ns = process->span.until_ns,
                                   .last_ns = jr_span_last(process)};

    jr_marks_add(&model->marks, process->run, &of);
    if (filter->nspans > 0)
        jr_inside_find(&process->inside, process->run, filter->spans,
                       filter->nspans, of.last_ns);
}

static void end_found(struct adding *adding)
{
    struct jr_found *found = adding->process->found;

    if (!found)
        return;
    found->tids = adding->threads;
    adding->threads = (struct jr_table){0};
    jr_found_seal(found);
}

void jr_model_add(struct jr_model *model, struct jr_log *log,
                  const struct jr_run *run, const struct jr_code *code,
                  struct jr_neighbours neighbours)
{
    struct jr_process *process =
        JR_PUSH(model->processes, model->nprocesses, model->processes_room);
    struct adding adding = {.model = model, .process = process};
    const size_t first_timed = model->times.nthreads;
    const size_t answers =
        run->stacks.count * (model->filter.split ? JP_EVENT_COUNT : 1);
    struct jr_space_jit jit;

    *process = (struct jr_process){.run = run,
                                   .map = code->map,
                                   .space = code->space,
                                   .neighbours = neighbours,
                                   .side = model->side};
    if (model->period_ns == 0)
        model->period_ns = run->header.period_ns ? run->header.period_ns
                                                 : JP_PERIOD_DEFAULT_NS;
    model->times.period_ns = model->period_ns;
    jr_span_select(model, process);
    jr_process_count_lost(process);
    add_marks(&adding);
    process->first_bucket = model->nbuckets;
    adding.answers = jr_alloc(answers, sizeof(*adding.answers));
    if (jr_filter_needs(&model->filter, JR_NEEDS_SAMPLE_LIST))
        adding.kept = jr_alloc(answers, sizeof(*adding.kept));
    if (jr_filter_needs(&model->filter, JR_NEEDS_REPLAY))
        process->found = jr_found_new(log, answers, (uint32_t)model->nthreads,
                                      jr_process_may_change(process));
    adding.resolver = jr_resolver_new(model);
    add_run(&adding, log);
    jr_resolver_free(adding.resolver);
    end_found(&adding);
    end_times(model, process, first_timed);
    jit = jr_space_jit(code->space);
    process->stats.jit_files = jit.files;
    process->stats.jit_bad_lines = jit.bad_lines;
    process->stats.jit_unread = jit.unread;
    process->stats.jit_mismatched = jit.mismatched;
    process->stats.jit_wiped = jit.wiped;
    process->nbuckets = model->nbuckets - process->first_bucket;
    jr_table_free(&adding.tids);
    jr_table_free(&adding.tid_events);
    jr_table_free(&adding.threads);
    free(adding.answers);
    free(adding.kept);
}
