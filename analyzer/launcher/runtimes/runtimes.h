/* SPDX-License-Identifier: MIT
 *
 * What the launcher knows of runtimes with a JIT compiler: one row each.
 * Runs in: launcher. */
#ifndef JL_RUNTIMES_H
#define JL_RUNTIMES_H

#include <stddef.h>
#include <stdint.h>

/* What a runtime writes. */
#define JL_PERFMAP 1U
#define JL_JITDUMP 2U
#define JL_PERFINFO 4U /* a perfinfo file: which images .NET has loaded */

#define JL_WORDS 7
#define JL_SETTINGS 2
#define JL_EXCLUSIONS 3

/* A variable of the environment, by which a runtime is asked: one that has only
 * an option of its command line cannot be a row.  In a word, %D is a folder for
 * JIT files in the profile's, %L the value of --jit-detail, %A the agent's
 * path. */
struct jl_setting {
    const char *variable;        /* name of the variable; NULL ends the array */
    char separator;              /* words are appended with this between them,
                             unless they are there already; 0: there is one
                             word, which is set unless the user has set the
                             variable */
    const char *words[JL_WORDS]; /* NULL behind the last one */
};

struct jl_version {
    unsigned major, minor;
};

/* The settings by which a runtime describes its code. */
struct jl_setup {
    uint8_t files;          /* JL_PERFMAP, JL_JITDUMP and JL_PERFINFO */
    struct jl_version from; /* the first version that does; 0: it depends on
                               how it was built */
    struct jl_setting settings[JL_SETTINGS];
};

/* A use of the runtime that a word changes or ends.  The word is left out. */
struct jl_exclusion {
    const char *word;    /* NULL: every word of the setup */
    const char *options; /* shell patterns, blanks between: the use is known by
                           an option like one of these, in the command line or
                           in the setting's variable; NULL: nothing shows it,
                           so the word is left out in each run */
    struct jl_version from, until; /* the versions with the fault, without
                                      `until`; zeros: no bound.  An unknown
                                      version has the fault if `options` tell
                                      of the use */
    const char *why;               /* the reason, behind "WORD is left out: " */
};

/* How a runtime that does not know what it is asked is known. */
enum jl_refusal {
    JL_PASSES_OVER,   /* it starts all the same and cannot be told from
                         others; if names are missing, the report says that
                         it was asked */
    JL_TELLS_VERSION, /* its version is looked up before it is asked
                         (`version`) */
    JL_ENDS,          /* it does not start: a trial run (`trial`) finds the
                         words at which it ends, and they are left out */
    JL_LACKS_WORD     /* its file lacks a word that others have (`mark`) */
};

struct jl_runtime {
    const char *name;
    const char *programs;      /* shell patterns, blanks between */
    struct jl_setup map, dump; /* for --jit=map and --jit=dump; if the
                               version or agent of `dump` is missing, `map` is
                               used, or none */
    enum jl_refusal refusal;
    /* One whose `why` is NULL ends them. */
    struct jl_exclusion excluded[JL_EXCLUSIONS];
    /* What has no names where the runtime cannot be asked; NULL: its JIT code.
     * An interpreter without a compiler has none. */
    const char *nameless;
    /* The library reads the functions of the versions from `from` on and before
     * `until` itself: these are not asked by --jit=map.  0.0, 0.0: none. */
    struct {
        struct jl_version from, until;
    } read;
    /* JL_TELLS_VERSION and bounded exclusions: what is before the numbers in
     * its file's name, and in what the file prints for the argument. */
    struct {
        const char *name, *argument, *printed;
    } version;
    /* JL_ENDS: a command that fails at a word that is not known. */
    const char *trial[4];
    /* JL_LACKS_WORD: builds that can describe their code have this word in
     * their file or one of these (shell patterns; of no folder: beside it). */
    const char *mark, *marked[4];
    const char *agents[5]; /* patterns of the file that is %A */
    /* Further files that it leaves when it is asked: in /tmp, or, where the
     * pattern has no slash, in the working directory; %P is its pid. */
    const char *litter;
    /* Options of the user's (patterns as above) by which these are his own
     * files, which stay. */
    const char *own_litter;
};

extern const struct jl_runtime jl_runtimes[];
extern const size_t jl_runtimes_count;

/* Whether the word matches one of the shell patterns, blanks between. */
int jl_is_one_of(const char *patterns, const char *word);

/* The row of a program of this name; NULL: none. */
const struct jl_runtime *jl_runtime_named(const char *name);

#endif
