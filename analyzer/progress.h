/* SPDX-License-Identifier: MIT
 *
 * Progress on stderr, for people who wait.
 * Runs in: analyzer. */
#ifndef JR_PROGRESS_H
#define JR_PROGRESS_H

#include <stdint.h>

struct jr_progress {
    const char *step; /* what is being done now; NULL: not said */
    const char *what; /* with which file; NULL: with none */
    uint64_t start_ns, last_ns;
    int wanted; /* stderr is a terminal */
    int shown;  /* there is a line to wipe */
};

void jr_progress_start(struct jr_progress *progress);

/* Shows the step and how much of it is done, when a second has passed since the
 * start and a fifth of one since it was last shown.  `total` 0: not known.
 * The first argument is a struct jr_progress: the type is that of
 * jr_progress_fn. */
void jr_progress_show(void *data, uint64_t done, uint64_t total);

/* Wipes the line, before anything else is said. */
void jr_progress_wipe(struct jr_progress *progress);

#endif
