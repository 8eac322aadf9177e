/* SPDX-License-Identifier: MIT
 *
 * Adds up the CPU time of processes, with a log and without.
 *
 * The kernel's word on a process is what whoever waited for it was told: the
 * time of the process and of all that it waited for itself.  So the times of
 * its children are taken from that, and what is left is its own.
 * Runs in: analyzer. */
#include "cover_sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cover_clocks.h"
#include "cover_gap.h"
#include "cover_image.h"
#include "model/model.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void jr_cover_free(struct jr_cover *cover)
{
    for (size_t i = 0; i < cover->ngaps; i++)
        free(cover->gaps[i].why);
    free(cover->gaps);
    free(cover->processes);
    free(cover->briefs);
    free(cover->trees);
    *cover = (struct jr_cover){0};
}

static int same(const struct jr_tree_root *one,
                const struct jr_tree_root *other)
{
    return one->pid == other->pid && one->space == other->space &&
           one->ticks == other->ticks;
}

uint32_t jr_cover_tree(struct jr_cover *cover, struct jr_tree *file,
                       const struct jr_tree_root *root, uint64_t boot)
{
    for (size_t i = 0; i < cover->ntrees; i++)
        if (cover->trees[i].file == file && same(&cover->trees[i].root, root) &&
            cover->trees[i].boot == boot)
            return (uint32_t)i;
    *JR_PUSH(cover->trees, cover->ntrees, cover->trees_room) =
        (struct jr_cover_tree){file, *root, boot};
    return (uint32_t)cover->ntrees - 1;
}

int jr_cover_is_in(const struct jr_cover_tree *tree,
                   const struct jp_log_header *header, uint64_t boot)
{
    const struct jr_tree_root root = jr_tree_root_of(header);

    return jr_tree_root_same(&tree->root, &root) && tree->boot == boot;
}

/* Images of one process come one behind the other, first ones first. */
static int by_image(const void *one, const void *other)
{
    const struct jr_cover_image *a =
        &((const struct jr_cover_process *)one)->last;
    const struct jr_cover_image *b =
        &((const struct jr_cover_process *)other)->last;
    const int order = jr_cover_order(a, b);

    if (order)
        return order;
    if (a->start_ticks != b->start_ticks)
        return a->start_ticks < b->start_ticks ? -1 : 1;
    if (a->before_ns != b->before_ns)
        return a->before_ns < b->before_ns ? -1 : 1;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

void jr_cover_add(struct jr_cover *cover, const struct jr_cover_image *image)
{
    *JR_PUSH(cover->processes, cover->nprocesses, cover->processes_room) =
        (struct jr_cover_process){
            .last = *image,
            .before_ns = image->before_ns,
            .off_ns = jr_cover_less(
                jr_cover_less(image->cpu_ns, image->before_ns), image->on_ns),
            .has_log = 1};
}

/* Joins a later image of the same process. */
static void join(struct jr_cover_process *process,
                 const struct jr_cover_process *later)
{
    struct jr_cover_image *to = &process->last, before = *to;

    *to = later->last;
    to->begin_ns = before.begin_ns;
    to->unlogged_ns = before.unlogged_ns;
    to->cpu_ns = jr_cover_most(before.cpu_ns, to->cpu_ns);
    to->children_ns = jr_cover_most(before.children_ns, to->children_ns);
    to->sampled_ns = jr_add(before.sampled_ns, to->sampled_ns);
    to->lost_ns = jr_add(before.lost_ns, to->lost_ns);
    to->looking_ns = jr_add(before.looking_ns, to->looking_ns);
    to->making_ns = jr_add(before.making_ns, to->making_ns);
    to->edges_ns = jr_add(before.edges_ns, to->edges_ns);
    to->kernel_ns = jr_add(before.kernel_ns, to->kernel_ns);
    to->cut |= before.cut;
    to->off = to->off ? to->off : before.off;
    to->refused |= before.refused;
    if (to->ppid == 0)
        to->ppid = before.ppid;
    process->before_ns =
        jr_add(process->before_ns,
               jr_cover_less(later->last.before_ns, before.cpu_ns));
    process->off_ns = jr_add(process->off_ns, later->off_ns);
    /* Between a paused program and the next the profile did not run. */
    if (before.paused)
        process->off_ns =
            jr_add(process->off_ns,
                   jr_cover_less(later->last.before_ns, before.cpu_ns));
}

static void sort(struct jr_cover *cover)
{
    if (cover->nprocesses)
        qsort(cover->processes, cover->nprocesses, sizeof *cover->processes,
              by_image);
}

static void join_images(struct jr_cover *cover)
{
    struct jr_cover_process *all = cover->processes;
    size_t kept = 0;

    sort(cover);
    for (size_t i = 0; i < cover->nprocesses; i++) {
        struct jr_cover_image *one = kept ? &all[kept - 1].last : NULL;

        if (one && one->tree == all[i].last.tree &&
            one->pid == all[i].last.pid &&
            one->start_ticks == all[i].last.start_ticks)
            join(&all[kept - 1], &all[i]);
        else
            all[kept++] = all[i];
    }
    cover->nprocesses = kept;
}

static int is_of(const struct jr_cover *cover, size_t i, uint32_t tree,
                 uint32_t pid)
{
    return cover->processes[i].last.tree == tree &&
           cover->processes[i].last.pid == pid;
}

/* The process that had this pid at a time: the last one that had begun, else
 * the first one; NULL when none is known. */
static struct jr_cover_process *find(const struct jr_cover *cover,
                                     size_t sorted, uint32_t tree, uint32_t pid,
                                     uint64_t time_ns)
{
    struct jr_cover_process *found = NULL;

    for (size_t i = jr_cover_first_of(cover, sorted, tree, pid);
         i < sorted && is_of(cover, i, tree, pid); i++)
        if (!found || cover->processes[i].last.begin_ns <= time_ns)
            found = &cover->processes[i];
    return found;
}

/* Finds the first process of a pid namespace, which a line from outside is
 * about. In its own log its pid is 1, and its parent is unknown or, before its
 * exec, the process that forked it; outside it has another pid. Of several, the
 * one with the most of the CPU time that the line tells of. NULL: there is
 * none. */
static struct jr_cover_process *find_inner(const struct jr_cover *cover,
                                           size_t sorted, uint32_t tree,
                                           const struct jr_tree_line *line)
{
    struct jr_cover_process *found = NULL;
    uint64_t told = jr_add(line->cpu_ns, JR_COVER_INNER_NS);

    if (cover->trees[tree].root.pid == 1)
        return NULL;
    for (size_t i = jr_cover_first_of(cover, sorted, tree, 1);
         i < sorted && is_of(cover, i, tree, 1); i++) {
        struct jr_cover_process *process = &cover->processes[i];
        const struct jr_cover_image *image = &process->last;

        if ((image->ppid == 0 || image->ppid == line->ppid) &&
            !process->reaped_ns && image->cpu_ns &&
            image->begin_ns <= line->time_ns &&
            jr_add(image->cpu_ns, image->children_ns) <= told &&
            (!found || image->cpu_ns > found->last.cpu_ns))
            found = process;
    }
    return found;
}

/* The process that a line tells the CPU time of. Where several had its pid at
 * that time, in pid namespaces of their own, it is the last of those that had
 * not used more. */
static struct jr_cover_process *find_told(const struct jr_cover *cover,
                                          size_t sorted, uint32_t tree,
                                          const struct jr_tree_line *line)
{
    struct jr_cover_process *found = NULL;
    uint64_t told = jr_add(line->cpu_ns, JR_COVER_INNER_NS);

    for (size_t i = jr_cover_first_of(cover, sorted, tree, line->pid);
         i < sorted && is_of(cover, i, tree, line->pid); i++) {
        struct jr_cover_process *process = &cover->processes[i];
        const struct jr_cover_image *image = &process->last;

        if (!process->reaped_ns && image->begin_ns <= line->time_ns &&
            jr_add(image->cpu_ns, image->children_ns) <= told)
            found = process;
    }
    return found ? found : find(cover, sorted, tree, line->pid, line->time_ns);
}

/* A process that was waited for, or the first one of a run. */
static void add_reaped(struct jr_cover *cover, size_t sorted, uint32_t tree,
                       const struct jr_tree_line *line)
{
    const int is_root = line->kind == JR_TREE_RUN;
    struct jr_cover_process *process =
        is_root ? find(cover, sorted, tree, line->pid, UINT64_MAX)
                : find_told(cover, sorted, tree, line);

    if (process == NULL && !is_root)
        process = find_inner(cover, sorted, tree, line);
    if (process == NULL || process->reaped_ns ||
        (!is_root && process->last.begin_ns > line->time_ns)) {
        process =
            JR_PUSH(cover->processes, cover->nprocesses, cover->processes_room);
        *process = (struct jr_cover_process){
            .last = {.tree = tree, .pid = line->pid, .ppid = line->ppid}};
    }
    process->reaped_ns = line->cpu_ns;
    process->end_ns = is_root ? 0 : line->time_ns;
    process->is_root = (uint8_t)is_root;
    if (process->last.ppid == 0)
        process->last.ppid = line->ppid;
}

/* Why a process is not profiled: what was last said while it lived. That may be
 * older than its log, which begins with the first sample. */
static void add_reason(struct jr_cover *cover, size_t sorted, uint32_t tree,
                       const struct jr_tree_line *line)
{
    for (size_t i = jr_cover_first_of(cover, sorted, tree, line->pid);
         i < sorted && is_of(cover, i, tree, line->pid); i++) {
        struct jr_cover_process *process = &cover->processes[i];

        if ((process->has_log || process->is_brief) &&
            strcmp(line->why, JR_COVER_SHARES) == 0)
            continue;
        if (jr_cover_less(process->last.begin_ns, process->last.unlogged_ns) <=
                line->time_ns &&
            (!process->end_ns || process->end_ns >= line->time_ns))
            process->reason = line;
    }
}

typedef void line_fn(struct jr_cover *cover, size_t sorted, uint32_t tree,
                     const struct jr_tree_line *line);

static void add_line(struct jr_cover *cover, size_t sorted, uint32_t tree,
                     const struct jr_tree_line *line)
{
    if (line->kind == JR_TREE_CHILD || line->kind == JR_TREE_RUN)
        add_reaped(cover, sorted, tree, line);
}

static void add_brief(struct jr_cover *cover, size_t sorted, uint32_t tree,
                      const struct jr_tree_line *line)
{
    (void)sorted;
    if (line->kind == JR_TREE_BRIEF)
        jr_cover_brief(cover, tree, line);
}

static void add_why(struct jr_cover *cover, size_t sorted, uint32_t tree,
                    const struct jr_tree_line *line)
{
    if (line->why[0])
        add_reason(cover, sorted, tree, line);
}

static void add_run(struct jr_cover *cover, size_t sorted, uint32_t tree,
                    const struct jr_tree_line *line)
{
    (void)sorted, (void)tree;
    if (line->kind != JR_TREE_RUN)
        return;
    cover->wall_ns = line->wall_ns;
    cover->command = line->args[0] ? line->args : NULL;
    cover->jit = line->text[0] ? line->text : NULL;
    cover->asked = line->asked;
    cover->nruns++;
}

/* Hands each line of the trees to `take`. */
static void each_line(struct jr_cover *cover, line_fn *take)
{
    const size_t sorted = cover->nprocesses;

    for (uint32_t t = 0; t < cover->ntrees; t++) {
        const struct jr_tree *file = cover->trees[t].file;

        for (size_t i = 0; file && i < file->nlines; i++)
            if (jr_tree_root_same(&file->lines[i].root, &cover->trees[t].root))
                take(cover, sorted, t, &file->lines[i]);
    }
}

/* A child's parent.  Where several processes had its pid at that time, in pid
 * namespaces of their own, it is the last one that waited for so much. */
static struct jr_cover_process *parent_of(const struct jr_cover *cover,
                                          const struct jr_cover_process *child)
{
    const struct jr_cover_image *image = &child->last;
    uint64_t time_ns = image->begin_ns ? image->begin_ns : child->end_ns;
    uint64_t used = jr_cover_with_children(child);
    struct jr_cover_process *found = NULL;

    for (size_t i = jr_cover_first_of(cover, cover->nprocesses, image->tree,
                                      image->ppid);
         i < cover->nprocesses && is_of(cover, i, image->tree, image->ppid);
         i++) {
        struct jr_cover_process *one = &cover->processes[i];

        if (one != child && one->last.begin_ns <= time_ns &&
            jr_add(one->kids_ns, used) <= one->last.children_ns)
            found = one;
    }
    return found ? found
                 : find(cover, cover->nprocesses, image->tree, image->ppid,
                        time_ns);
}

/* Who answers for a process whose parent left nothing, as one that used little
 * does: the first process of the tree, if that left no log either, for what was
 * waited for below it is all that is known of it. */
static struct jr_cover_process *
root_above(const struct jr_cover *cover, const struct jr_cover_process *orphan)
{
    const uint32_t tree = orphan->last.tree;
    struct jr_cover_process *root =
        find(cover, cover->nprocesses, tree, cover->trees[tree].root.pid,
             UINT64_MAX);

    return root && root->is_root && root->last.cpu_ns == 0 ? root : NULL;
}

/* Whether nobody is known to have waited for a process: its parent is not
 * known, or executed a program that left no word. */
static int is_orphan(const struct jr_cover_process *child,
                     const struct jr_cover_process *parent)
{
    return !child->is_root && (child->has_log || child->is_brief) &&
           (!parent ||
            (!parent->reaped_ns && !parent->last.ended &&
             parent->last.children_ns < jr_cover_with_children(child)));
}

static void sum_children(struct jr_cover *cover)
{
    for (size_t i = 0; i < cover->nprocesses; i++) {
        struct jr_cover_process *child = &cover->processes[i];
        struct jr_cover_process *parent = parent_of(cover, child);

        child->is_orphan = is_orphan(child, parent);
        if (!parent)
            parent = root_above(cover, child);
        if (parent && parent != child)
            parent->kids_ns =
                jr_add(parent->kids_ns, jr_cover_with_children(child));
    }
}

/* Whether a process executed a program that could not write to the folder. */
static int went_out_of_reach(const struct jr_cover_process *process)
{
    return process->last.off >= JP_OFF_READONLY && process->reaped_ns == 0;
}

/* What a parent waited for and what is of no child that is known is of a child
 * that went where no log can be made, if it has just one; the parent could not
 * write its line either (the first process of a sandbox's namespace).  Other
 * children that left no trace may have used part of it: the reason says so. */
static void find_out_of_reach(struct jr_cover *cover)
{
    for (size_t i = 0; i < cover->nprocesses; i++) {
        struct jr_cover_process *child = &cover->processes[i];
        struct jr_cover_process *parent =
            went_out_of_reach(child) ? parent_of(cover, child) : NULL;
        uint64_t left =
            parent ? jr_cover_less(parent->last.children_ns, parent->kids_ns)
                   : 0;

        for (size_t j = 0; left && j < cover->nprocesses; j++)
            if (j != i && went_out_of_reach(&cover->processes[j]) &&
                parent_of(cover, &cover->processes[j]) == parent)
                left = 0;
        if (left == 0)
            continue;
        child->reaped_ns = jr_add(jr_cover_with_children(child), left);
        child->supposed = 1;
        parent->kids_ns = jr_add(parent->kids_ns, left);
    }
}

static void settle_own(struct jr_cover_process *process)
{
    process->own_ns = jr_cover_own(process);
    if (process->last.paused)
        process->off_ns =
            jr_add(process->off_ns,
                   jr_cover_less(process->own_ns, process->last.cpu_ns));
    else if (process->last.ended)
        process->after_ns =
            jr_cover_less(process->own_ns, process->last.cpu_ns);
    process->off_ns = least(process->off_ns, process->own_ns);
    process->last.looking_ns =
        least(process->last.looking_ns, process->own_ns - process->off_ns);
    process->last.making_ns =
        least(process->last.making_ns,
              process->own_ns - process->off_ns - process->last.looking_ns);
    process->last.kernel_ns =
        least(process->last.kernel_ns, process->own_ns - process->off_ns -
                                           process->last.looking_ns -
                                           process->last.making_ns);
}

static void sum_process(struct jr_cover *cover,
                        const struct jr_cover_process *process)
{
    if (process->own_ns == 0)
        return; /* of an older library: its time is not known */
    cover->known = 1;
    if (process->last.cut) {
        cover->cut_ns = jr_add(cover->cut_ns, process->own_ns);
        return;
    }
    cover->before_ns = jr_add(cover->before_ns, process->before_ns);
    cover->after_ns = jr_add(cover->after_ns, process->after_ns);
    cover->edges_ns = jr_add(cover->edges_ns, process->last.edges_ns);
    cover->paused_ns = jr_add(cover->paused_ns, process->off_ns);
    cover->looking_ns = jr_add(cover->looking_ns, process->last.looking_ns);
    cover->making_ns = jr_add(cover->making_ns, process->last.making_ns);
    cover->kernel_ns = jr_add(cover->kernel_ns, process->last.kernel_ns);
    cover->cpu_ns = jr_add(cover->cpu_ns, jr_cover_due(process));
    cover->sampled_ns = jr_add(cover->sampled_ns, process->last.sampled_ns);
    /* (What it used later, after an exec without a line, is another's.) */
    if (process->is_brief)
        cover->brief_ns = jr_add(
            cover->brief_ns,
            jr_cover_less(least(jr_cover_due(process), process->last.cpu_ns),
                          process->before_ns));
}

/* CPU time of processes of which there is no other trace: what the launcher's
 * total has more, or what parents waited for. */
static uint64_t rest_of(const struct jr_cover *cover)
{
    uint64_t own = 0, total = 0, waited = 0;

    for (size_t i = 0; i < cover->nprocesses; i++) {
        const struct jr_cover_process *process = &cover->processes[i];

        own = jr_add(own, process->own_ns);
        if (process->is_root)
            total = jr_add(total, process->reaped_ns);
        if (process->has_log || process->is_brief)
            waited = jr_add(waited, jr_cover_less(process->last.children_ns,
                                                  process->kids_ns));
    }
    total = jr_cover_less(total, own);
    return jr_cover_most(total > JR_COVER_TICKS_NS ? total : 0, waited);
}

void jr_cover_finish(struct jr_cover *cover, int merged)
{
    jr_cover_clocks(cover);
    join_images(cover);
    each_line(cover, add_run);
    if (merged) {
        each_line(cover, add_brief);
        jr_cover_join_briefs(cover);
        sort(cover);
        each_line(cover, add_line);
        sort(cover);
        each_line(cover, add_why);
        sum_children(cover);
        for (uint32_t tree = 0; tree < cover->ntrees; tree++)
            jr_cover_take_off_orphans(cover, tree);
        find_out_of_reach(cover);
    }
    for (size_t i = 0; i < cover->nprocesses; i++) {
        settle_own(&cover->processes[i]);
        sum_process(cover, &cover->processes[i]);
    }
    if (merged) {
        cover->whole = cover->ntrees != 0 && cover->nruns >= cover->ntrees;
        cover->rest_ns = rest_of(cover);
        cover->cpu_ns = jr_add(cover->cpu_ns, cover->rest_ns);
    } else {
        for (size_t i = 0; i < cover->nprocesses; i++)
            cover->children_ns = jr_add(cover->children_ns,
                                        cover->processes[i].last.children_ns);
    }
    jr_cover_gaps(cover);
}
