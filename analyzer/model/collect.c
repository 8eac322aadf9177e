/* SPDX-License-Identifier: MIT
 *
 * Samples to leaves of the tree.  A stack is resolved when it is first seen
 * and again only when a sample lies outside the time for which the answer
 * holds, so that the work grows with distinct stacks, not with samples.
 * Runs in: analyzer. */
#include <stdlib.h>

#include "../base/mem.h"
#include "jp_limits.h"
#include "model.h"

#define PROGRESS_SAMPLES 65536
#define PROGRESS_STACKS 256

static const char gap_name[] = "[... frames left out ...]";
static const char no_stack_name[] = "[no stack]";
static const char no_module[] = "";

/* What is known of one stack of the run that is being added. */
struct answer {
    uint64_t from_ns, until_ns;  /* when it holds; 0, 0: not resolved yet */
    uint32_t node;
    uint32_t leaf, bucket;       /* the leaf last used; valid has_leaf */
    uint32_t frames, unnamed, jit;
    uint8_t dropped, has_leaf;
};

struct adding {
    struct jr_model *model;
    struct jr_process *process;
    struct answer *answers;      /* one a stack of the run */
    uint32_t bucket, bucket_tid; /* the last one used; valid has_bucket */
    uint8_t has_bucket;
    struct jr_table tids;
};

/* Adds the functions at one address to the path. */
static void add_hit(struct jr_model *model, const struct jr_hit *hit,
                    struct answer *answer)
{
    for (size_t i = 0; i < hit->nframes; i++) {
        const struct jr_frame *frame = &hit->frames[i];

        *JR_PUSH(model->path, model->npath, model->path_room) =
            jr_tree_function(model, frame->name, frame->module, frame->kind);
        answer->frames++;
        if (frame->kind == JR_FRAME_JIT)
            answer->jit++;
        else if (frame->kind != JR_FRAME_NATIVE)
            answer->unnamed++;
    }
    if (hit->from_ns > answer->from_ns)
        answer->from_ns = hit->from_ns;
    if (hit->until_ns < answer->until_ns)
        answer->until_ns = hit->until_ns;
}

static int is_dropped(const struct jr_model *model)
{
    int included = model->filter.ninclude == 0;

    for (size_t i = 0; i < model->npath; i++) {
        const struct jr_function *function = &model->functions[model->path[i]];

        if (function->excluded)
            return 1;
        included |= function->included;
    }
    return !included;
}

static void push_pseudo(struct jr_model *model, const char *name)
{
    uint32_t id = jr_tree_function(model, name, no_module, JR_FRAME_UNKNOWN);

    *JR_PUSH(model->path, model->npath, model->path_room) = id;
}

static void resolve(struct adding *adding, const struct jr_sample *sample)
{
    struct jr_model *model = adding->model;
    const struct jr_run *run = adding->process->run;
    const struct jr_stack *stack = &run->stacks[sample->stack];
    struct answer *answer = &adding->answers[sample->stack];
    struct jr_hit hit;

    *answer = (struct answer){.until_ns = UINT64_MAX};
    model->npath = 0;
    for (uint32_t i = 0; i < stack->depth; i++) {
        if (stack->gap != 0 && stack->gap == i)
            push_pseudo(model, gap_name);
        jr_space_find(adding->process->space, run->frames[stack->first + i],
                      sample->time_ns, i > 0, &hit);
        add_hit(model, &hit, answer);
    }
    if (model->npath == 0)
        push_pseudo(model, no_stack_name);
    answer->dropped = (uint8_t)is_dropped(model);
    if (answer->dropped)
        return;
    if (model->filter.depth != 0 && model->npath > model->filter.depth)
        model->npath = (size_t)model->filter.depth;
    answer->node = jr_tree_insert(model, model->path, model->npath);
}

/* The bucket of a thread, and the count of threads. */
static uint32_t bucket_of(struct adding *adding, uint32_t tid)
{
    struct jr_model *model = adding->model;
    uint32_t process = (uint32_t)(adding->process - model->processes);
    uint32_t fresh, counted_tid = model->filter.by_thread ? tid : 0;

    if (adding->has_bucket && adding->bucket_tid == tid)
        return adding->bucket;
    fresh = (uint32_t)adding->tids.used;
    if (jr_table_put(&adding->tids, tid, 0, fresh) == fresh)
        adding->process->stats.threads++;
    fresh = (uint32_t)model->nbuckets;
    adding->bucket = jr_table_put(&model->by_thread, process, counted_tid,
                                  fresh);
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

    if (answer->has_leaf && answer->bucket == bucket)
        return &model->leaves[answer->leaf];
    answer->leaf = jr_table_put(&model->by_leaf, bucket, answer->node, fresh);
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
    if (sample->event == JP_EVENT_CPU ||
        sample->event == JP_EVENT_WALL_RUNNING)
        stats->cpu_ns = jr_add(stats->cpu_ns, weight);
    if (sample->event != JP_EVENT_RAISED) {
        stats->timer_samples++;
        stats->timer_ns = jr_add(stats->timer_ns, weight);
    }
    stats->reasons[sample->reason]++;
    stats->frames += answer->frames;
    stats->unnamed_frames += answer->unnamed;
    stats->jit_frames += answer->jit;
}

/* Returns whether the stack had to be resolved, which may take long. */
static int add_sample(struct adding *adding, const struct jr_sample *sample)
{
    struct answer *answer = &adding->answers[sample->stack];
    struct jr_stats *stats = &adding->process->stats;
    struct jr_leaf *leaf;
    struct jr_bucket *bucket;
    int slow = 0;

    if (sample->time_ns < answer->from_ns ||
        sample->time_ns >= answer->until_ns) {
        resolve(adding, sample);
        slow = 1;
    }
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
        slow += (size_t)add_sample(adding, sample);
        if (model->progress != NULL &&
            (i % PROGRESS_SAMPLES == 0 || slow >= PROGRESS_STACKS)) {
            model->progress(model->progress_data, i, run->nsamples);
            slow = 0;
        }
    }
}

static void count_lost(struct jr_process *process)
{
    const uint64_t *counters = process->run->header.counters;

    for (size_t i = 0; i < JR_LOST_COUNT; i++)
        process->stats.lost[i] = counters[i];
    process->stats.lost_ns = counters[JP_COUNT_LOST_NS];
}

void jr_model_add(struct jr_model *model, const struct jr_run *run,
                  const struct jr_map *map, struct jr_space *space,
                  struct jr_neighbours neighbours)
{
    struct jr_process *process =
        JR_PUSH(model->processes, model->nprocesses, model->processes_room);
    struct adding adding = {.model = model, .process = process};

    *process = (struct jr_process){.run = run,
                                   .map = map,
                                   .space = space,
                                   .neighbours = neighbours};
    if (model->period_ns == 0)
        model->period_ns = run->header.period_ns ? run->header.period_ns
                                                 : JP_PERIOD_DEFAULT_NS;
    jr_span_select(&model->filter, process);
    count_lost(process);
    process->first_bucket = model->nbuckets;
    adding.answers = jr_alloc(run->nstacks ? run->nstacks : 1,
                              sizeof(*adding.answers));
    add_samples(&adding);
    process->nbuckets = model->nbuckets - process->first_bucket;
    jr_table_free(&adding.tids);
    free(adding.answers);
}
