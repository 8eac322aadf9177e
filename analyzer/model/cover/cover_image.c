/* SPDX-License-Identifier: MIT
 *
 * What a log, its map and the tree say of the CPU time of their process, and
 * whose time that is.
 * Runs in: analyzer. */
#include "cover_image.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "cover_kernel.h"
#include "model/model.h"

/* A profile that is to run from the start does so this soon. */
#define START_NS 5000000ULL

/* Goes through starts and stops in order of time, and adds up the CPU time
 * between them. */
struct course {
    uint64_t on_ns, since_ns;
    int on;
};

static void start(struct course *course, uint64_t cpu_ns)
{
    if (!course->on)
        course->since_ns = cpu_ns;
    course->on = 1;
}

static void stop(struct course *course, uint64_t cpu_ns)
{
    if (course->on && cpu_ns > course->since_ns)
        course->on_ns = jr_add(course->on_ns, cpu_ns - course->since_ns);
    course->on = 0;
}

/* Samples from before do not count. */
static void clear(struct course *course, uint64_t cpu_ns)
{
    course->on_ns = 0;
    course->since_ns = cpu_ns;
}

static uint64_t time_of(const struct jr_section *moments, size_t count,
                        size_t i)
{
    return i < count ? moments[i].time_ns : UINT64_MAX;
}

static void follow(struct course *course, const struct jr_map *map)
{
    const struct jr_section *sections = map->sections, *pauses = map->pauses;
    uint64_t cleared = map->clear.time_ns ? map->clear.time_ns : UINT64_MAX;

    for (size_t i = 0, j = 0;
         i < map->nsections || j < map->npauses || cleared != UINT64_MAX;) {
        uint64_t started = time_of(sections, map->nsections, i);
        uint64_t stopped = time_of(pauses, map->npauses, j);

        if (cleared <= started && cleared <= stopped) {
            clear(course, map->clear.cpu_ns);
            cleared = UINT64_MAX;
        } else if (started <= stopped) {
            start(course, sections[i++].cpu_ns);
        } else {
            stop(course, pauses[j++].cpu_ns);
        }
    }
}

/* The period at which the process was sampled, on average where the handler's
 * cost made it longer than was asked for: what chance makes goes by it. */
static uint64_t period_of(const struct jp_log_header *header)
{
    const uint64_t count = header->counters[JP_COUNT_LOWERED];
    const uint64_t mean =
        count ? header->counters[JP_COUNT_LOWERED_NS] / count : 0;

    return mean > header->period_ns ? mean : header->period_ns;
}

/* How long the process had been there when its log began. */
static uint64_t unlogged_of(const struct jp_log_header *header)
{
    return header->start_ticks &&
                   header->start_ticks <= header->boot_ns / JP_LOG_TICK_NS
               ? header->boot_ns - header->start_ticks * JP_LOG_TICK_NS
               : 0;
}

void jr_cover_image(const struct jr_run *run, const struct jr_map *map,
                    struct jr_cover_image *image)
{
    const struct jp_log_header *header = &run->header;
    struct course course = {.since_ns = header->cpu_before_ns, .on = 1};

    *image = (struct jr_cover_image){
        .pid = header->pid,
        .ppid = map->ppid,
        .start_ticks = header->start_ticks,
        .space = header->owner_space,
        .time_space = header->owner_time_space,
        .midnight_ns = header->real_ns ? header->real_ns - header->mono_ns : 0,
        .begin_ns = header->mono_ns,
        .unlogged_ns = unlogged_of(header),
        .read_ns = header->cpu_read_ns,
        .before_ns = header->cpu_before_ns,
        .cpu_ns = header->cpu_ns,
        .children_ns = header->children_ns,
        .lost_ns = header->counters[JP_COUNT_LOST_NS],
        .looking_ns = header->counters[JP_COUNT_LOOKING_NS],
        .making_ns = header->counters[JP_COUNT_MAKING_NS],
        .edges_ns = header->counters[JP_COUNT_EDGES_NS],
        .kernel_ns =
            jr_cover_kernel_ns(map, header->counters[JP_COUNT_KERNEL_NS]),
        .period_ns = period_of(header),
        .threads = run->sums.tids.used,
        .cut = header->counters[JP_COUNT_RING_REUSED] != 0,
        .off = (uint8_t)(header->off < JP_OFF_COUNT ? header->off : 0),
        .refused = header->counters[JP_COUNT_NO_TIMER] != 0,
        .ended = header->cpu_ended != 0,
    };
    /* Of those behind a sandbox, several may be process 1, and none knows when
     * it began. */
    if (image->start_ticks == 0 && header->base_run != 0)
        image->start_ticks = 1ULL << 63 | run->offset;
    image->sampled_ns = run->cpu_ns;
    /* A killed process: what it used since it last looked at its clock. */
    if (image->cpu_ns)
        image->cpu_ns = jr_add(image->cpu_ns, run->late_ns);
    /* One that was to wait, JP_DEFER or JP_FIRST, did not run at first. */
    if (map->nsections &&
        map->sections[0].cpu_ns > header->cpu_before_ns + START_NS)
        course.on = 0;
    follow(&course, map);
    image->paused = !course.on;
    stop(&course, image->cpu_ns);
    image->on_ns = course.on_ns;
}

size_t jr_cover_first_of(const struct jr_cover *cover, size_t sorted,
                         uint32_t tree, uint32_t pid)
{
    return JR_FIRST_NOT(sorted, i,
                        cover->processes[i].last.tree < tree ||
                            (cover->processes[i].last.tree == tree &&
                             cover->processes[i].last.pid < pid));
}

uint64_t jr_cover_due(const struct jr_cover_process *process)
{
    return process->own_ns - process->off_ns - process->last.looking_ns -
           process->last.making_ns - process->last.kernel_ns;
}

void jr_cover_brief(struct jr_cover *cover, uint32_t tree,
                    const struct jr_tree_line *line)
{
    const uint64_t before =
        line->before_ns < line->cpu_ns ? line->before_ns : line->cpu_ns;

    *JR_PUSH(cover->briefs, cover->nbriefs, cover->briefs_room) =
        (struct jr_cover_process){.last = {.tree = tree,
                                           .pid = line->pid,
                                           .ppid = line->ppid,
                                           .begin_ns = line->time_ns,
                                           /* (Why it executes a program comes
                                            * just before it.) */
                                           .unlogged_ns = JP_LOG_TICK_NS,
                                           .before_ns = before,
                                           .cpu_ns = line->cpu_ns,
                                           .children_ns = line->children_ns,
                                           .ended = line->ended},
                                  .before_ns = before,
                                  .is_brief = 1};
}

int jr_cover_order(const struct jr_cover_image *a,
                   const struct jr_cover_image *b)
{
    if (a->tree != b->tree)
        return a->tree < b->tree ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return 0;
}

/* In order of their pids and, of one, of time. */
static int by_time(const void *one, const void *other)
{
    const struct jr_cover_image *a =
        &((const struct jr_cover_process *)one)->last;
    const struct jr_cover_image *b =
        &((const struct jr_cover_process *)other)->last;
    const int order = jr_cover_order(a, b);

    return order ? order
                 : (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* Whether a later line is of the same program: an exec has failed since (a
 * shell tries each folder of PATH), or another thread has ended it, too. */
static int is_same(const struct jr_cover_image *one,
                   const struct jr_cover_image *later)
{
    return one->tree == later->tree && one->pid == later->pid &&
           one->before_ns == later->before_ns && one->cpu_ns <= later->cpu_ns &&
           one->ended <= later->ended;
}

/* Joins a program without a log with one that the process executed before, as
 * its CPU clock has gone on since.  Returns 0 where it cannot be of that
 * process. */
static int join_later(struct jr_cover_process *to,
                      const struct jr_cover_process *later)
{
    if (to->last.ended || later->last.before_ns < to->last.cpu_ns)
        return 0;
    to->before_ns =
        jr_add(to->before_ns, later->last.before_ns - to->last.cpu_ns);
    to->last.read_ns = later->last.begin_ns;
    to->last.before_ns = later->last.before_ns;
    to->last.cpu_ns = later->last.cpu_ns;
    to->last.ended = later->last.ended;
    if (later->last.children_ns > to->last.children_ns)
        to->last.children_ns = later->last.children_ns;
    return 1;
}

/* Joins one with the process of a log, which lived then: the program came
 * before the last one with a log, or behind it.  (It is that one itself where
 * an exec has failed before a sample found it.) */
static int join_logged(struct jr_cover *cover, size_t logged,
                       const struct jr_cover_process *brief)
{
    const struct jr_cover_image *last = &brief->last;
    struct jr_cover_process *found = NULL;

    for (size_t i = jr_cover_first_of(cover, logged, last->tree, last->pid);
         i < logged && cover->processes[i].last.tree == last->tree &&
         cover->processes[i].last.pid == last->pid;
         i++) {
        struct jr_cover_process *one = &cover->processes[i];

        if (jr_cover_less(one->last.begin_ns,
                          jr_add(one->last.unlogged_ns, JP_LOG_TICK_NS)) <=
            last->begin_ns)
            found = one;
    }
    if (found == NULL)
        return 0;
    /* By then its clock had been read for the last time. */
    if (last->begin_ns > found->last.begin_ns &&
        last->begin_ns > found->last.read_ns)
        return join_later(found, brief);
    if (last->cpu_ns > found->last.cpu_ns)
        return 0;
    if (last->cpu_ns <= found->last.before_ns)
        found->before_ns = jr_cover_less(
            found->before_ns, jr_cover_less(last->cpu_ns, last->before_ns));
    return 1;
}

void jr_cover_join_briefs(struct jr_cover *cover)
{
    const size_t logged = cover->nprocesses;

    if (cover->nbriefs)
        qsort(cover->briefs, cover->nbriefs, sizeof *cover->briefs, by_time);
    for (size_t i = 0; i < cover->nbriefs; i++) {
        const struct jr_cover_process *brief = &cover->briefs[i];
        struct jr_cover_process *before =
            cover->nprocesses > logged
                ? &cover->processes[cover->nprocesses - 1]
                : NULL;

        if (i + 1 < cover->nbriefs && is_same(&brief->last, &brief[1].last))
            continue;
        if (join_logged(cover, logged, brief) ||
            (before && before->last.tree == brief->last.tree &&
             before->last.pid == brief->last.pid && join_later(before, brief)))
            continue;
        *JR_PUSH(cover->processes, cover->nprocesses, cover->processes_room) =
            *brief;
    }
}

uint64_t jr_cover_with_children(const struct jr_cover_process *process)
{
    return process->reaped_ns
               ? process->reaped_ns
               : jr_add(process->last.cpu_ns, process->last.children_ns);
}

uint64_t jr_cover_own(const struct jr_cover_process *process)
{
    uint64_t told = jr_cover_less(
        process->reaped_ns,
        jr_cover_most(process->last.children_ns, process->kids_ns));
    uint64_t slack = process->is_root ? JR_COVER_TICKS_NS : 0;

    return told > jr_add(process->last.cpu_ns, slack) ? told
                                                      : process->last.cpu_ns;
}

/* What a process is known to have waited for and is of no child that is known;
 * of one without a log, its own time is in it. */
static uint64_t left_of(const struct jr_cover_process *process)
{
    return jr_cover_less(process->has_log || process->is_brief
                             ? process->last.children_ns
                             : process->reaped_ns,
                         process->kids_ns);
}

/* The same, where it is besides the process's own time. */
static uint64_t kept_of(const struct jr_cover_process *process)
{
    return process->has_log || process->is_brief ? left_of(process) : 0;
}

/* By how much the processes of a tree together seem to have used more than the
 * launcher was told; 0 where it told nothing. */
static uint64_t excess_of(const struct jr_cover *cover, uint32_t tree)
{
    uint64_t sum = 0, told = 0;

    for (size_t i = 0; i < cover->nprocesses; i++) {
        const struct jr_cover_process *process = &cover->processes[i];

        if (process->last.tree != tree)
            continue;
        sum = jr_add(sum, jr_add(jr_cover_own(process), kept_of(process)));
        if (process->is_root)
            told = jr_add(told, process->reaped_ns);
    }
    return told ? jr_cover_less(sum, jr_add(told, JR_COVER_TICKS_NS)) : 0;
}

/* Some processes of a tree. */
struct some {
    struct jr_cover_process **all;
    size_t count, room;
};

/* The process, of those that waited for others, whose waited-for time an
 * orphan's is most likely part of: with the least that is left and enough for
 * it. */
static struct jr_cover_process *
ancestor_of(const struct some *waiters, const struct jr_cover_process *orphan)
{
    const uint64_t used = jr_cover_with_children(orphan);
    struct jr_cover_process *found = NULL;

    for (size_t i = 0; i < waiters->count; i++) {
        struct jr_cover_process *one = waiters->all[i];
        const uint64_t left = left_of(one);

        if (one != orphan && left && used <= jr_add(left, JR_COVER_INNER_NS) &&
            one->last.ppid != orphan->last.pid &&
            jr_cover_less(one->last.begin_ns, one->last.unlogged_ns) <=
                orphan->last.begin_ns &&
            (!one->end_ns || one->end_ns >= orphan->last.begin_ns) &&
            (!found || left < left_of(found)))
            found = one;
    }
    return found;
}

/* Those that used most come first. */
static int by_use(const void *one, const void *other)
{
    const struct jr_cover_process *a = *(struct jr_cover_process *const *)one;
    const struct jr_cover_process *b = *(struct jr_cover_process *const *)other;
    const uint64_t first = jr_cover_with_children(a),
                   second = jr_cover_with_children(b);

    if (first != second)
        return first > second ? -1 : 1;
    return (a > b) - (a < b);
}

/* Takes an orphan's time off what `waiter` waited for.  Returns by how much
 * less the tree's processes seem to have used then. */
static uint64_t take_off(struct jr_cover_process *waiter,
                         const struct jr_cover_process *orphan)
{
    const uint64_t before = jr_add(jr_cover_own(waiter), kept_of(waiter));

    waiter->kids_ns = jr_add(waiter->kids_ns, jr_cover_with_children(orphan));
    return jr_cover_less(before, jr_add(jr_cover_own(waiter), kept_of(waiter)));
}

/* A process whose parent left no trace, as a compiler's brief driver, is also
 * in what that parent's parent waited for.  Where the launcher's word says that
 * time is counted twice, that of such processes is taken from those that most
 * likely waited for it.  (One that nobody waited for, as a daemon, is not in
 * the launcher's word; it is taken from nobody if it fits into none.)
 * There may be many: each brief child of what is not profiled has a line. */
void jr_cover_take_off_orphans(struct jr_cover *cover, uint32_t tree)
{
    struct some orphans = {0}, waiters = {0};
    uint64_t excess = excess_of(cover, tree);

    for (size_t i = 0; excess && i < cover->nprocesses; i++) {
        struct jr_cover_process *one = &cover->processes[i];

        if (one->last.tree == tree && one->is_orphan)
            *JR_PUSH(orphans.all, orphans.count, orphans.room) = one;
        if (one->last.tree == tree && left_of(one))
            *JR_PUSH(waiters.all, waiters.count, waiters.room) = one;
    }
    if (orphans.count)
        qsort(orphans.all, orphans.count, sizeof *orphans.all, by_use);
    for (size_t i = 0; excess && i < orphans.count; i++) {
        struct jr_cover_process *ancestor =
            ancestor_of(&waiters, orphans.all[i]);

        if (ancestor)
            excess = jr_cover_less(excess, take_off(ancestor, orphans.all[i]));
    }
    free(orphans.all);
    free(waiters.all);
}
