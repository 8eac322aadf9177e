/* SPDX-License-Identifier: MIT
 *
 * Adds up the CPU time of processes.
 * Runs in: analyzer. */
#ifndef JR_COVER_SUM_H
#define JR_COVER_SUM_H

#include "cover.h"

/* All zero is empty. */
void jr_cover_free(struct jr_cover *cover);

/* A tree of processes, by its file (may be NULL), the first one and the
 * machine's boot; returns its number.  The file must outlive the cover, which
 * corrects the times of its lines (jr_cover_clocks). */
uint32_t jr_cover_tree(struct jr_cover *cover, struct jr_tree *file,
                       const struct jr_tree_root *root, uint64_t boot);

/* Whether the process of a log's header is in the tree; boot: its machine's. */
int jr_cover_is_in(const struct jr_cover_tree *tree,
                   const struct jp_log_header *header, uint64_t boot);

/* Adds a program of a process; the images of a process come in any order.
 * The command must outlive the cover. */
void jr_cover_add(struct jr_cover *cover, const struct jr_cover_image *image);

/* Sums up.  merged: the report is of whole trees, not of some processes. */
void jr_cover_finish(struct jr_cover *cover, int merged);

#endif
