/* SPDX-License-Identifier: MIT
 *
 * CPU time that is a process's own; processes whose parents left no trace.
 * Runs in: analyzer. */
#include "cover_own.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model.h"

uint64_t jr_cover_with_children(const struct jr_cover_process *process)
{
    return process->reaped_ns
               ? process->reaped_ns
               : jr_add(process->last.cpu_ns, process->last.children_ns);
}

uint64_t jr_cover_own(const struct jr_cover_process *process)
{
    uint64_t told = less(process->reaped_ns,
                         most(process->last.children_ns, process->kids_ns));
    uint64_t slack = process->is_root ? TICKS_NS : 0;

    return told > jr_add(process->last.cpu_ns, slack) ? told
                                                      : process->last.cpu_ns;
}

/* What a process is known to have waited for and is of no child that is known;
 * of one without a log, its own time is in it. */
static uint64_t left_of(const struct jr_cover_process *process)
{
    return less(process->has_log || process->is_brief
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
    return told ? less(sum, jr_add(told, TICKS_NS)) : 0;
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

        if (one != orphan && left && used <= jr_add(left, INNER_NS) &&
            one->last.ppid != orphan->last.pid &&
            one->last.begin_ns <= orphan->last.begin_ns &&
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
    return less(before, jr_add(jr_cover_own(waiter), kept_of(waiter)));
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
            excess = less(excess, take_off(ancestor, orphans.all[i]));
    }
    free(orphans.all);
    free(waiters.all);
}
