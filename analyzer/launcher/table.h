/* SPDX-License-Identifier: MIT
 *
 * What the launcher knows of runtimes with a JIT compiler: one row each.
 * Runs in: launcher. */
#ifndef JL_TABLE_H
#define JL_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* What a runtime writes. */
#define JL_PERFMAP 1U
#define JL_JITDUMP 2U

#define JL_WORDS 7
#define JL_SETTINGS 2

/* A variable of the environment.  In a word, %D is a folder for JIT files in
 * the profile's, %L the value of --jit-detail, %A the agent's path. */
struct jl_setting {
    const char *variable;   /* NULL: the last one was before */
    char separator;         /* of the words, which are appended unless they are
                               there already; 0: the one word is set unless the
                               user has set the variable */
    const char *words[JL_WORDS]; /* NULL behind the last one */
};

/* What makes a runtime describe its code. */
struct jl_request {
    uint8_t makes;          /* JL_PERFMAP | JL_JITDUMP; 0: nothing is asked */
    struct { unsigned major, minor; } from; /* the first version that does; 0:
                               what is older leaves it out by itself, or
                               refuses it (`refuses`) */
    struct jl_setting settings[JL_SETTINGS];
};

struct jl_runtime {
    const char *name;
    const char *programs;   /* shell patterns, blanks between */
    const char *since;      /* the versions that know what is asked */
    struct jl_request map, dump; /* for --jit=map and --jit=dump; of a request
                               whose version or agent is missing, the map's
                               takes the place, or none */
    /* How its version is learnt: what is before the numbers in its file's
     * name, and in what the file prints for the argument. */
    struct { const char *name, *argument, *printed; } version;
    /* How it refuses an option: this command then fails.  NULL: it never does,
     * for it passes over what it does not know. */
    const char *refuses[4];
    /* Builds that can describe their code have this word in one of these
     * files (shell patterns; of no folder: beside the program). */
    const char *mark, *marked[4];
    const char *agents[5];  /* patterns of the file that is %A */
    const char *ageless;    /* said in the report of too old a version or a
                               build without the mark */
    /* Further files that it leaves when it is asked: in /tmp, or, where the
     * pattern has no slash, in the working directory; %P is its pid. */
    const char *litter;
};

extern const struct jl_runtime jl_runtimes[];
extern const size_t jl_runtimes_count;

/* The row of a program of this name; NULL: none. */
const struct jl_runtime *jl_runtime_named(const char *name);

#endif
