/* SPDX-License-Identifier: MIT
 *
 * The CPU time of a process by its log, its map and the tree.
 * Runs in: analyzer. */
#ifndef JR_COVER_IMAGE_H
#define JR_COVER_IMAGE_H

#include "cover.h"

/* What a log says of its process; tree and command are left to
 * the caller. */
void jr_cover_image(const struct jr_run *run, const struct jr_map *map,
                    struct jr_cover_image *image);

/* After jr_cover_finish: the CPU time of a process that samples should
 * cover. */
uint64_t jr_cover_due(const struct jr_cover_process *process);

/* Adds what a line, JR_TREE_BRIEF, says of its process; later
 * joins all such with the processes that logs tell of, which are in order, or
 * makes processes of them, at the end. */
void jr_cover_brief(struct jr_cover *cover, uint32_t tree,
                    const struct jr_tree_line *line);
void jr_cover_join_briefs(struct jr_cover *cover);

/* The CPU time of a process and of all that it waited for. */
uint64_t jr_cover_with_children(const struct jr_cover_process *process);

/* All CPU time of a process: by its own clock, or what its waiter was told and
 * is not its children's. */
uint64_t jr_cover_own(const struct jr_cover_process *process);

/* Takes the time of a tree's orphans off those that most likely waited for
 * them, as long as the launcher's word says that it is counted twice. */
void jr_cover_take_off_orphans(struct jr_cover *cover, uint32_t tree);

/* The order of two processes, by tree and pid: below, at or above 0, as qsort's
 * function has it. */
int jr_cover_order(const struct jr_cover_image *a,
                   const struct jr_cover_image *b);

/* The first of the first `sorted` processes, which are in order, that is not
 * before one with this tree and pid. */
size_t jr_cover_first_of(const struct jr_cover *cover, size_t sorted,
                         uint32_t tree, uint32_t pid);

#endif
