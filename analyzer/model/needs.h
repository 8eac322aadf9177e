/* SPDX-License-Identifier: MIT
 *
 * The parts of the model that a report needs; the model keeps no others.
 * Runs in: analyzer. */
#ifndef JR_NEEDS_H
#define JR_NEEDS_H

enum jr_needs {
    JR_NEEDS_PATHS = 1 << 0, /* all functions of a stack; without it the
                                innermost one and code that has no name */
    JR_NEEDS_CALLS = 1 << 1, /* which function called which */
    JR_NEEDS_CODE = 1 << 2,  /* which code was sampled where (jr_model.spots) */
    JR_NEEDS_PLACES = 1 << 3,      /* addresses and lines (jr_model.places) */
    JR_NEEDS_EVENT_SUMS = 1 << 4,  /* a bucket for each thread and event */
    JR_NEEDS_SAMPLE_LIST = 1 << 5, /* jr_model.seen */
    JR_NEEDS_REPLAY = 1 << 6,      /* each sample once more, out of the log
                                      (again/again.h) */
    JR_NEEDS_LOOKUPS = 1 << 7      /* the code that was looked up in each
                                      binary, for an archive */
};

#endif
