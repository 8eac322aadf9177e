/* SPDX-License-Identifier: MIT
 *
 * Life of a model, its sums, and small questions to it.
 * Runs in: analyzer. */
#include "build.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "model/marks/inside.h"
#include "span.h"
#include "tree.h"

void jr_model_init(struct jr_model *model, const struct jr_filter *filter)
{
    *model = (struct jr_model){.filter = *filter};
    model->named = jr_alloc(filter->ninclude + filter->nexclude + 1, 1);
    jr_paths_init(&model->nodes);
}

void jr_model_free(struct jr_model *model)
{
    for (size_t i = 0; i < model->nprocesses; i++) {
        jr_inside_free(&model->processes[i].inside);
        jr_found_free(model->processes[i].found);
    }
    free(model->processes);
    free(model->functions);
    free(model->tiers);
    free(model->arcs);
    jr_paths_free(&model->nodes);
    jr_places_free(&model->places);
    jr_marks_free(&model->marks);
    for (size_t i = 0; i < model->nmade_names; i++)
        free(model->made_names[i]);
    free(model->made_names);
    free(model->first);
    free(model->node_arcs);
    free(model->leaves);
    free(model->buckets);
    free(model->spots);
    free(model->threads);
    free(model->seen);
    free(model->profiled);
    free(model->path);
    free(model->named);
    jr_times_free(&model->times);
    free(model->frame_tiers);
    jr_table_free(&model->by_name);
    jr_table_free(&model->by_tier);
    jr_table_free(&model->by_part);
    jr_index_free(&model->by_leaf);
    *model = (struct jr_model){0};
}

/* Puts the leaves in order of buckets, and of nodes in a bucket. */
static void sort_leaves(struct jr_model *model)
{
    struct jr_ordered *order = jr_realloc(NULL, model->nleaves, sizeof *order);
    struct jr_leaf *sorted = jr_realloc(NULL, model->nleaves, sizeof *sorted);

    for (size_t i = 0; i < model->nleaves; i++)
        order[i] = (struct jr_ordered){(uint64_t)model->leaves[i].bucket *
                                               model->nodes.count +
                                           model->leaves[i].node,
                                       i};
    jr_order(order, model->nleaves);
    for (size_t i = 0; i < model->nleaves; i++)
        sorted[i] = model->leaves[order[i].index];
    free(order);
    free(model->leaves);
    model->leaves = sorted;
    model->leaves_room = model->nleaves;
}

static void add_stats(struct jr_stats *sum, const struct jr_stats *part)
{
    sum->samples += part->samples;
    sum->weight_ns = jr_add(sum->weight_ns, part->weight_ns);
    sum->cpu_ns = jr_add(sum->cpu_ns, part->cpu_ns);
    sum->blocked_ns = jr_add(sum->blocked_ns, part->blocked_ns);
    sum->ready_ns = jr_add(sum->ready_ns, part->ready_ns);
    sum->timer_samples += part->timer_samples;
    sum->timer_ns = jr_add(sum->timer_ns, part->timer_ns);
    sum->filtered += part->filtered;
    for (size_t i = 0; i < JP_REASON_COUNT; i++)
        sum->reasons[i] += part->reasons[i];
    sum->frames += part->frames;
    sum->inlined_frames += part->inlined_frames;
    sum->lines_known += part->lines_known;
    sum->unnamed_frames += part->unnamed_frames;
    sum->bare_ns = jr_add(sum->bare_ns, part->bare_ns);
    sum->nameless_ns = jr_add(sum->nameless_ns, part->nameless_ns);
    sum->jit_frames += part->jit_frames;
    sum->jit_named += part->jit_named;
    sum->jit_late += part->jit_late;
    sum->jit_files += part->jit_files;
    sum->jit_bad_lines += part->jit_bad_lines;
    sum->jit_unread += part->jit_unread;
    sum->jit_mismatched += part->jit_mismatched;
    sum->jit_wiped += part->jit_wiped;
    for (size_t i = 0; i < JR_LOST_COUNT; i++)
        sum->lost[i] = jr_add(sum->lost[i], part->lost[i]);
    sum->lost_ns = jr_add(sum->lost_ns, part->lost_ns);
    sum->rule_hits = jr_add(sum->rule_hits, part->rule_hits);
    sum->rule_misses = jr_add(sum->rule_misses, part->rule_misses);
    sum->lowered = jr_add(sum->lowered, part->lowered);
    sum->lowered_ns = jr_add(sum->lowered_ns, part->lowered_ns);
    sum->threads += part->threads;
    sum->sections += part->sections;
    sum->open_ns = jr_add(sum->open_ns, part->open_ns);
    sum->open += part->open;
    sum->gone += part->gone;
}

void jr_model_finish(struct jr_model *model)
{
    uint64_t gone_ns = 0; /* what the ring that lost most has lost */

    jr_tree_finish(model);
    jr_index_free(&model->by_leaf);
    sort_leaves(model);
    for (size_t i = 0; i < model->nleaves; i++) {
        struct jr_bucket *bucket = &model->buckets[model->leaves[i].bucket];

        if (bucket->nleaves++ == 0)
            bucket->first_leaf = i;
    }
    for (size_t i = 0; i < model->nprocesses; i++) {
        const struct jr_stats *stats = &model->processes[i].stats;

        add_stats(&model->total, stats);
        if (stats->wall_ns - stats->kept_ns > gone_ns)
            gone_ns = stats->wall_ns - stats->kept_ns;
    }
    model->total.wall_ns = jr_span_union(model->profiled, model->nprofiled);
    model->total.kept_ns =
        model->total.wall_ns > gone_ns ? model->total.wall_ns - gone_ns : 0;
}

uint64_t jr_periods(const struct jr_model *model, uint64_t weight_ns)
{
    return jr_periods_of(model->period_ns, weight_ns);
}

uint64_t jr_periods_of(uint64_t period_ns, uint64_t weight_ns)
{
    const uint64_t period = period_ns ? period_ns : 1;

    return weight_ns / period + (weight_ns % period >= period - period / 2);
}

const char *jr_thread_name(const struct jr_process *process, uint32_t tid)
{
    const struct jr_map *map = process->map;

    for (size_t i = map->nthreads; i-- > 0;)
        if (map->threads[i].tid == tid)
            return map->threads[i].name;
    return NULL;
}

int jr_process_may_change(const struct jr_process *process)
{
    const struct jp_log_header *header = &process->run->header;

    return process->run->is_unrepeatable ||
           (!process->map->exited &&
            (header->ring_bytes > 0 ||
             header->counters[JP_COUNT_RING_REUSED] > 0));
}

void jr_process_count_lost(struct jr_process *process)
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
