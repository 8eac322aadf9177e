/* SPDX-License-Identifier: MIT
 *
 * Brings the times of processes in several time namespaces to one clock.
 * Runs in: analyzer. */
#include "cover_clocks.h"

#include <stdlib.h>

#include "cover_image.h"

/* The image whose clock a tree's times are brought to: the first process's,
 * else the one that began first by the time of day. */
static const struct jr_cover_image *clock_of(const struct jr_cover *cover,
                                             uint32_t tree)
{
    const uint32_t root = cover->trees[tree].root.pid;
    const struct jr_cover_image *found = NULL;

    for (size_t i = 0; i < cover->nprocesses; i++) {
        const struct jr_cover_image *one = &cover->processes[i].last;

        if (one->tree != tree || !one->time_space || !one->midnight_ns)
            continue;
        if (!found || (one->pid == root) > (found->pid == root) ||
            ((one->pid == root) == (found->pid == root) &&
             one->midnight_ns + one->begin_ns <
                 found->midnight_ns + found->begin_ns))
            found = one;
    }
    return found;
}

/* Moves the images of a tree to its clock.  Returns whether there was one of
 * another time namespace. */
static int move_images(struct jr_cover *cover, uint32_t tree)
{
    const struct jr_cover_image *clock = clock_of(cover, tree);
    const uint32_t space = clock ? clock->time_space : 0;
    const uint64_t midnight_ns = clock ? clock->midnight_ns : 0;
    int moved = 0;

    for (size_t i = 0; clock && i < cover->nprocesses; i++) {
        struct jr_cover_image *one = &cover->processes[i].last;

        if (one->tree != tree || !one->time_space || one->time_space == space ||
            !one->midnight_ns)
            continue;
        one->shift_ns = one->midnight_ns - midnight_ns;
        one->begin_ns += one->shift_ns;
        if (one->read_ns)
            one->read_ns += one->shift_ns;
        moved = 1;
    }
    return moved;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    const uint64_t ahead = a - b;

    return (int64_t)ahead < 0 ? b - a : ahead;
}

/* What brings a line that an image's process may have written nearer to the
 * line before it. */
static uint64_t nearer(const struct jr_cover *cover, uint32_t tree,
                       uint32_t pid, const struct jr_tree_line *line,
                       uint64_t shift_ns, uint64_t before_ns)
{
    for (size_t i = jr_cover_first_of(cover, cover->nprocesses, tree, pid);
         i < cover->nprocesses && cover->processes[i].last.tree == tree &&
         cover->processes[i].last.pid == pid;
         i++) {
        const uint64_t one = cover->processes[i].last.shift_ns;

        if (apart(line->time_ns + one, before_ns) <
            apart(line->time_ns + shift_ns, before_ns))
            shift_ns = one;
    }
    return shift_ns;
}

/* Moves the lines of a tree.  Each is by the clock of its writer, which may
 * have executed a program in another time namespace before or since; but the
 * lines are in the order in which they were written. */
static void move_lines(struct jr_cover *cover, uint32_t tree)
{
    const struct jr_cover_image *clock = clock_of(cover, tree);
    struct jr_tree *file = cover->trees[tree].file;
    uint64_t before_ns = clock ? clock->begin_ns : 0;

    for (size_t i = 0; file && i < file->nlines; i++) {
        struct jr_tree_line *line = &file->lines[i];
        uint64_t shift_ns;

        if (line->moved || line->kind == JR_TREE_RUN ||
            !jr_tree_root_same(&line->root, &cover->trees[tree].root))
            continue;
        shift_ns = nearer(cover, tree, line->pid, line, 0, before_ns);
        shift_ns = nearer(cover, tree, line->ppid, line, shift_ns, before_ns);
        line->time_ns += shift_ns;
        line->moved = 1;
        before_ns = line->time_ns;
    }
}

/* In order of their pids and, of one, of the CPU clock. */
static int by_clock(const void *one, const void *other)
{
    const struct jr_cover_image *a =
        &((const struct jr_cover_process *)one)->last;
    const struct jr_cover_image *b =
        &((const struct jr_cover_process *)other)->last;
    const int order = jr_cover_order(a, b);

    return order
               ? order
               : (a->before_ns > b->before_ns) - (a->before_ns < b->before_ns);
}

/* How many processes of this pid are known to have been waited for. */
static size_t waited_for(const struct jr_cover *cover,
                         const struct jr_cover_image *image)
{
    const struct jr_cover_tree *tree = &cover->trees[image->tree];
    size_t count = 0;

    for (size_t i = 0; tree->file && i < tree->file->nlines; i++)
        count += tree->file->lines[i].kind == JR_TREE_CHILD &&
                 tree->file->lines[i].pid == image->pid &&
                 jr_tree_root_same(&tree->file->lines[i].root, &tree->root);
    return count;
}

/* Whether `later` may be a program that the process of `one` executed in
 * another time namespace: its CPU clock has gone on, and that clock is the same
 * in all of them, while start times are not. */
static int goes_on(const struct jr_cover_image *one,
                   const struct jr_cover_image *later)
{
    return one->time_space && later->time_space &&
           one->time_space != later->time_space && one->space == later->space &&
           !one->ended && one->cpu_ns && one->cpu_ns <= later->before_ns;
}

/* Gives the images [from, to) of one pid, in order of the CPU clock, the
 * start_ticks of the process that they are of. */
static void unite(struct jr_cover *cover, size_t from, size_t to)
{
    struct jr_cover_process *all = cover->processes;
    size_t starts = 1;

    for (size_t i = from + 1; i < to; i++)
        starts += all[i].last.start_ticks != all[i - 1].last.start_ticks;
    if (starts == 1 || starts <= waited_for(cover, &all[from].last))
        return;
    for (size_t i = from + 1; i < to; i++) {
        const struct jr_cover_image *found = NULL;

        for (size_t j = from; j < i; j++)
            if (goes_on(&all[j].last, &all[i].last) &&
                (!found || all[j].last.cpu_ns >= found->cpu_ns))
                found = &all[j].last;
        if (found)
            all[i].last.start_ticks = found->start_ticks;
    }
}

void jr_cover_clocks(struct jr_cover *cover)
{
    for (uint32_t tree = 0; tree < cover->ntrees; tree++) {
        size_t from = 0;

        if (!move_images(cover, tree))
            continue;
        qsort(cover->processes, cover->nprocesses, sizeof *cover->processes,
              by_clock);
        move_lines(cover, tree);
        for (size_t i = 1; i <= cover->nprocesses; i++) {
            if (i < cover->nprocesses &&
                jr_cover_order(&cover->processes[from].last,
                               &cover->processes[i].last) == 0)
                continue;
            if (cover->processes[from].last.tree == tree)
                unite(cover, from, i);
            from = i;
        }
    }
}
