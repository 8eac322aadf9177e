/* SPDX-License-Identifier: MIT
 *
 * The tree's file (doc/FORMAT.md), where processes without a log are told of:
 * the launcher adds what the whole run was.
 * Runs in: launcher. */
#ifndef JL_TREEFILE_H
#define JL_TREEFILE_H

#include "launcher/folder/folder.h"
#include "program.h"

/* What a run was, beside what its program tells. */
struct jl_whole {
    const struct jl_program *program;
    const char *why;       /* it could not be profiled; NULL */
    const char *note;      /* there are no names of JIT code; NULL */
    const char *no_result; /* they were requested, and are missing; NULL */
    int no_args;           /* the arguments are left out */
};

/* Appends its line. */
void jl_tree_write(const struct jl_folder *folder,
                   const struct jl_whole *whole);

/* The programs, three at most, that could not be profiled though they used
 * CPU time, in words; NULL: none.  Allocated. */
char *jl_tree_unprofiled(const struct jl_folder *folder);

#endif
