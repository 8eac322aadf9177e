/* SPDX-License-Identifier: MIT
 *
 * Samples to leaves of the tree.  A stack is resolved when it is first seen
 * and again only when a sample lies outside the time for which the answer
 * holds, so that the work grows with distinct stacks, not with samples.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jp_limits.h"
#include "model.h"

#define PROGRESS_SAMPLES 65536
#define PROGRESS_STACKS 256

static const char gap_name[] = "[... frames left out ...]";
static const char no_stack_name[] = "[no stack]";
static const char no_module[] = "";

/* What is known of one stack of the run that is being added. */
struct answer {
    uint64_t from_ns, until_ns; /* when it holds; 0, 0: not resolved yet */
    uint32_t node;
    uint32_t leaf, bucket; /* the leaf last used; valid has_leaf */
    uint32_t spot;         /* of the leaf, or NO_SPOT */
    uint32_t frames, unnamed;
    uint16_t jit, jit_named, jit_late; /* a log's stacks have 4096 addresses
                                          at most */
    uint8_t dropped, has_leaf;
};

#define NO_SPOT UINT32_MAX

struct adding {
    struct jr_model *model;
    struct jr_process *process;
    struct answer *answers;      /* one a stack of the run */
    uint32_t bucket, bucket_tid; /* the last one used; valid has_bucket */
    uint8_t has_bucket;
    struct jr_table tids;
    struct jr_table spots; /* by address and when its code began */
};

/* What -i and -e say of the frames of a stack. */
struct verdict {
    int included, excluded;
};

/* Whether one of the names is the frame's, readable or as its runtime wrote
 * it; marks it in `named`. */
static int listed(const char *const *names, size_t count,
                  const struct jr_frame *frame, uint8_t *named)
{
    int found = 0;

    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], frame->name) == 0 ||
            (frame->raw && strcmp(names[i], frame->raw) == 0))
            found = named[i] = 1;
    return found;
}

static void judge(struct jr_model *model, const struct jr_frame *frame,
                  struct verdict *verdict)
{
    const struct jr_filter *filter = &model->filter;

    verdict->included |=
        listed(filter->include, filter->ninclude, frame, model->named);
    verdict->excluded |= listed(filter->exclude, filter->nexclude, frame,
                                model->named + filter->ninclude);
}

static void push_frame(struct jr_model *model, const struct jr_frame *frame,
                       struct verdict *verdict)
{
    judge(model, frame, verdict);
    *JR_PUSH(model->path, model->npath, model->path_room) =
        jr_tree_tier(model, frame);
}

/* Adds the functions at one address to the path. */
static void add_hit(struct jr_model *model, const struct jr_hit *hit,
                    struct answer *answer, struct verdict *verdict)
{
    for (size_t i = 0; i < hit->nframes; i++) {
        const struct jr_frame *frame = &hit->frames[i];

        push_frame(model, frame, verdict);
        answer->frames++;
        if (frame->kind == JR_FRAME_JIT) {
            answer->jit_named++;
            answer->jit_late += frame->late;
        } else if (frame->kind != JR_FRAME_NATIVE) {
            answer->unnamed++;
        }
        answer->jit +=
            frame->kind == JR_FRAME_JIT || frame->kind == JR_FRAME_JIT_UNNAMED;
    }
    if (hit->from_ns > answer->from_ns)
        answer->from_ns = hit->from_ns;
    if (hit->until_ns < answer->until_ns)
        answer->until_ns = hit->until_ns;
}

/* The spot of a stack's leaf, when that is JIT code with a name. */
static uint32_t spot_of(struct adding *adding, const struct jr_sample *sample,
                        uint64_t address, const struct jr_hit *hit)
{
    struct jr_model *model = adding->model;
    uint32_t fresh = (uint32_t)model->nspots, id;

    if (hit->frames[0].kind != JR_FRAME_JIT || model->filter.no_code)
        return NO_SPOT;
    id = jr_table_put(&adding->spots, address, hit->from_ns, fresh);
    if (id == fresh)
        *JR_PUSH(model->spots, model->nspots, model->spots_room) =
            (struct jr_spot){.address = address,
                             .time_ns = sample->time_ns,
                             .process =
                                 (uint32_t)(adding->process - model->processes),
                             .tier = model->path[model->filter.split]};
    return id;
}

static void push_pseudo(struct jr_model *model, const char *name,
                        struct verdict *verdict)
{
    struct jr_frame frame = {
        .name = name, .module = no_module, .kind = JR_FRAME_UNKNOWN};

    push_frame(model, &frame, verdict);
}

/* With split, a stack has an answer for each event. */
static struct answer *answer_of(const struct adding *adding,
                                const struct jr_sample *sample)
{
    if (adding->model->filter.split)
        return &adding->answers[(size_t)sample->stack * JP_EVENT_COUNT +
                                sample->event];
    return &adding->answers[sample->stack];
}

static void resolve(struct adding *adding, const struct jr_sample *sample)
{
    struct jr_model *model = adding->model;
    const struct jr_run *run = adding->process->run;
    const struct jr_stack *stack = &run->stacks[sample->stack];
    struct answer *answer = answer_of(adding, sample);
    struct verdict verdict = {.included = model->filter.ninclude == 0};
    struct jr_hit hit;

    *answer = (struct answer){.until_ns = UINT64_MAX, .spot = NO_SPOT};
    model->npath = 0;
    if (model->filter.split)
        push_pseudo(model, jr_event_frame(sample->event), &verdict);
    for (uint32_t i = 0; i < stack->depth; i++) {
        if (stack->gap != 0 && stack->gap == i)
            push_pseudo(model, gap_name, &verdict);
        jr_space_find(adding->process->space, run->frames[stack->first + i],
                      sample->time_ns, i > 0, &hit);
        add_hit(model, &hit, answer, &verdict);
        if (i == 0)
            answer->spot =
                spot_of(adding, sample, run->frames[stack->first], &hit);
    }
    if (model->npath == model->filter.split)
        push_pseudo(model, no_stack_name, &verdict);
    answer->dropped = verdict.excluded || !verdict.included;
    if (answer->dropped)
        return;
    if (model->filter.depth != 0 && model->npath > model->filter.depth)
        model->npath = (size_t)model->filter.depth;
    answer->node = jr_tree_insert(model, model->path, model->npath);
}

static uint32_t process_of(const struct adding *adding)
{
    return (uint32_t)(adding->process - adding->model->processes);
}

/* The bucket of a thread, and the count of threads. */
static uint32_t bucket_of(struct adding *adding, uint32_t tid)
{
    struct jr_model *model = adding->model;
    uint32_t process = process_of(adding);
    uint32_t fresh, counted_tid = model->filter.by_thread ? tid : 0;

    if (adding->has_bucket && adding->bucket_tid == tid)
        return adding->bucket;
    fresh = (uint32_t)adding->tids.used;
    if (jr_table_put(&adding->tids, tid, 0, fresh) == fresh)
        adding->process->stats.threads++;
    fresh = (uint32_t)model->nbuckets;
    adding->bucket =
        jr_table_put(&model->by_thread, process, counted_tid, fresh);
    if (adding->bucket == fresh)
        *JR_PUSH(model->buckets, model->nbuckets, model->buckets_room) =
            (struct jr_bucket){.process = process, .tid = counted_tid};
    adding->bucket_tid = tid;
    adding->has_bucket = 1;
    return adding->bucket;
}

static struct jr_leaf *leaf_of(struct adding *adding, struct answer *answer,
                               uint32_t bucket)
{
    struct jr_model *model = adding->model;
    uint32_t fresh = (uint32_t)model->nleaves;
    struct jr_node *node;

    if (answer->has_leaf && answer->bucket == bucket)
        return &model->leaves[answer->leaf];
    node = &model->nodes[answer->node];
    if (node->leaf == 0)
        node->leaf = fresh + 1;
    answer->leaf = node->leaf - 1;
    if (answer->leaf != fresh && model->leaves[answer->leaf].bucket != bucket)
        answer->leaf =
            jr_table_put(&model->by_leaf, bucket, answer->node, fresh);
    answer->bucket = bucket;
    answer->has_leaf = 1;
    if (answer->leaf == fresh)
        *JR_PUSH(model->leaves, model->nleaves, model->leaves_room) =
            (struct jr_leaf){.bucket = bucket, .node = answer->node};
    return &model->leaves[answer->leaf];
}

static void count(struct jr_stats *stats, const struct jr_sample *sample,
                  const struct answer *answer)
{
    uint64_t weight = sample->weight_ns;

    stats->samples++;
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
        stats->timer_samples++;
        stats->timer_ns = jr_add(stats->timer_ns, weight);
    }
    stats->reasons[sample->reason]++;
    stats->frames += answer->frames;
    stats->unnamed_frames += answer->unnamed;
    stats->jit_frames += answer->jit;
    stats->jit_named += answer->jit_named;
    stats->jit_late += answer->jit_late;
}

/* Returns whether the stack had to be resolved, which may take long. */
static int add_sample(struct adding *adding, const struct jr_sample *sample)
{
    struct answer *answer = answer_of(adding, sample);
    struct jr_stats *stats = &adding->process->stats;
    struct jr_leaf *leaf;
    struct jr_bucket *bucket;
    int slow = 0;

    if (sample->time_ns < answer->from_ns ||
        sample->time_ns >= answer->until_ns) {
        resolve(adding, sample);
        slow = 1;
    }
    if (jr_is_real(sample->event))
        jr_times_add(&adding->model->times, process_of(adding),
                     answer->dropped ? 0 : answer->node, sample);
    if (answer->dropped) {
        stats->filtered++;
        return slow;
    }
    leaf = leaf_of(adding, answer, bucket_of(adding, sample->tid));
    bucket = &adding->model->buckets[leaf->bucket];
    leaf->samples++;
    leaf->weight_ns = jr_add(leaf->weight_ns, sample->weight_ns);
    bucket->samples++;
    bucket->weight_ns = jr_add(bucket->weight_ns, sample->weight_ns);
    if (answer->spot != NO_SPOT) {
        struct jr_spot *spot = &adding->model->spots[answer->spot];

        spot->samples++;
        spot->weight_ns = jr_add(spot->weight_ns, sample->weight_ns);
    }
    count(stats, sample, answer);
    return slow;
}

static void add_samples(struct adding *adding)
{
    struct jr_model *model = adding->model;
    const struct jr_run *run = adding->process->run;
    struct jr_span span = adding->process->span;
    uint32_t tid = model->filter.tid;
    size_t slow = 0;

    for (size_t i = 0; i < run->nsamples; i++) {
        const struct jr_sample *sample = &run->samples[i];

        if (sample->time_ns < span.from_ns || sample->time_ns >= span.until_ns)
            continue;
        if (tid != 0 && sample->tid != tid)
            continue;
        if (model->filter.events != 0 &&
            (model->filter.events >> sample->event & 1) == 0) {
            if (jr_is_real(sample->event))
                jr_times_add(&model->times, process_of(adding), 0, sample);
            continue;
        }
        slow += (size_t)add_sample(adding, sample);
        if (model->progress != NULL &&
            (i % PROGRESS_SAMPLES == 0 || slow >= PROGRESS_STACKS)) {
            model->progress(model->progress_data, i, run->nsamples);
            slow = 0;
        }
    }
}

/* Of a ring that was overwritten, what its oldest chunk reaches back to. */
static void count_kept(struct jr_process *process)
{
    const struct jr_run *run = process->run;
    struct jr_stats *stats = &process->stats;
    uint64_t last = run->nsamples ? run->samples[run->nsamples - 1].time_ns : 0;

    stats->kept_ns = stats->wall_ns;
    if (run->header.counters[JP_COUNT_RING_REUSED] != 0 &&
        run->oldest_ns < last && last - run->oldest_ns < stats->kept_ns)
        stats->kept_ns = last - run->oldest_ns;
}

static void count_lost(struct jr_process *process)
{
    const uint64_t *counters = process->run->header.counters;

    for (size_t i = 0; i < JR_LOST_COUNT; i++)
        process->stats.lost[i] = counters[i];
    process->stats.lost_ns = counters[JP_COUNT_LOST_NS];
    process->stats.rule_hits = counters[JP_COUNT_RULE_HITS];
    process->stats.rule_misses = counters[JP_COUNT_RULE_MISSES];
    process->stats.lowered = counters[JP_COUNT_LOWERED];
    process->stats.lowered_ns = counters[JP_COUNT_LOWERED_NS];
}

void jr_model_add(struct jr_model *model, const struct jr_run *run,
                  const struct jr_map *map, struct jr_space *space,
                  struct jr_neighbours neighbours)
{
    struct jr_process *process =
        JR_PUSH(model->processes, model->nprocesses, model->processes_room);
    struct adding adding = {.model = model, .process = process};
    struct jr_space_jit jit;

    *process = (struct jr_process){
        .run = run, .map = map, .space = space, .neighbours = neighbours};
    if (model->period_ns == 0)
        model->period_ns = run->header.period_ns ? run->header.period_ns
                                                 : JP_PERIOD_DEFAULT_NS;
    jr_span_select(model, process);
    count_lost(process);
    count_kept(process);
    process->first_bucket = model->nbuckets;
    adding.answers = jr_alloc((run->nstacks ? run->nstacks : 1) *
                                  (model->filter.split ? JP_EVENT_COUNT : 1),
                              sizeof(*adding.answers));
    add_samples(&adding);
    jit = jr_space_jit(space);
    process->stats.jit_files = jit.files;
    process->stats.jit_bad_lines = jit.bad_lines;
    process->stats.jit_mismatched = jit.mismatched;
    process->nbuckets = model->nbuckets - process->first_bucket;
    jr_table_free(&adding.tids);
    jr_table_free(&adding.spots);
    free(adding.answers);
}
