/* SPDX-License-Identifier: MIT
 *
 * The launcher's request that the program's runtime describe its JIT code.
 * Runs in: launcher. */
#ifndef JL_REQUEST_H
#define JL_REQUEST_H

#include "runtimes.h"

struct jl_request {
    const struct jl_runtime *runtime; /* of the program; NULL: none is known */
    unsigned files;   /* JL_PERFMAP... that it is asked to write; 0: nothing was
                       requested */
    unsigned removed; /* those of `files` that only jprof wants, and removes
                         when it has copied them */
    const char *removed_patterns; /* further files to remove, as `litter` of
                                     jl_runtime; NULL */
    char *refusal;   /* why nothing was requested; NULL; allocated, as is: */
    char *no_result; /* what to say if the files are missing; NULL */
};

#endif
