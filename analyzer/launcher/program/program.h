/* SPDX-License-Identifier: MIT
 *
 * The profiled program: started in the launcher's process group, which has the
 * terminal, and waited for while signals are passed on to it.
 * Runs in: launcher. */
#ifndef JL_PROGRAM_H
#define JL_PROGRAM_H

#include <stdint.h>
#include <sys/types.h>

struct jl_program {
    const char *path; /* the file that is executed */
    char *const *argv, *const *env;
    char *const *bare;       /* env without what the runtime is asked, */
    int (*look)(void *data); /* while it runs; returns in how many ms it is
                                to be called next.  NULL: nothing is */
    void *data;
    unsigned jit_files; /* JL_PERFMAP... that it is asked to write; `bare` is
                           used if it cannot have their names (claim.h) */
    /* When it has ended: */
    pid_t pid;
    int status;      /* as a shell has it: 128 + a signal's number */
    uint64_t cpu_ns; /* of it and what it waited for */
    uint64_t wall_ns;
};

/* Runs it to its end. */
void jl_program_run(struct jl_program *program);

/* A signal's name without SIG, or its number as text; valid until the next
 * call. */
const char *jl_signal_name(int number);

#endif
