/* SPDX-License-Identifier: MIT
 *
 * The profile model: samples of one or more processes become functions, a
 * tree of stacks and weights.  Everything a report shows comes from here.
 * Runs in: analyzer. */
#ifndef JR_MODEL_H
#define JR_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/paths.h"
#include "base/table.h"
#include "base/weight.h"
#include "found/found.h"
#include "marks/marks.h"
#include "model/marks/inside.h"
#include "needs.h"
#include "places/places.h"
#include "read/log.h"
#include "read/map.h"
#include "symbol/symbol.h"
#include "times.h"

#define JR_LOST_COUNT (JP_COUNT_LOST_NO_SLOT + 1)

/* How functions that a runtime compiled more than once are told apart. */
enum jr_tiers {
    JR_TIERS_MERGE = 0, /* one function, whatever its tier */
    JR_TIERS_SPLIT,     /* one a tier */
    JR_TIERS_RAW        /* one a name, as the runtime wrote it */
};

/* When the profile of a boot's processes starts. */
struct jr_start {
    uint8_t boot_id[16];
    uint32_t time_space; /* inode of their time namespace, 0: unknown */
    uint64_t mono_ns;    /* by the boot's CLOCK_MONOTONIC, */
    uint64_t real_ns;    /* and by the time of day; 0: not known */
    uint8_t side;        /* of a comparison: each has a start of its own */
};

struct jr_starts {
    struct jr_start *items;
    size_t count, room;
    uint8_t side; /* of what jr_starts_add is told */
};

/* The sides of a comparison (--diff); what is compared with nothing is
 * AFTER. */
enum jr_side { JR_AFTER = 0, JR_BEFORE, JR_SIDES };

/* Which samples count, and how much of their stacks. */
struct jr_filter {
    const char **include; /* keep stacks that hold one of these names */
    size_t ninclude, include_room;
    const char **exclude; /* drop stacks that hold one of these names */
    size_t nexclude, exclude_room;
    uint64_t depth;      /* leaf-most frames kept; 0: all */
    uint64_t start, end; /* sections [start, end) */
    uint32_t tid;        /* this thread only; 0: all */
    uint8_t last;        /* the last section only, whatever start is */
    uint8_t by_thread;   /* a part of the report for each thread */
    uint8_t tiers;       /* enum jr_tiers */
    uint32_t events;     /* bits 1 << enum jp_event that count; 0: all */
    uint8_t split;       /* stacks end in the sample's event */
    uint8_t interpreter; /* code that runs the functions of scripts is shown,
                            which otherwise counts as theirs */
    uint32_t needs;      /* enum jr_needs: what the report needs */
    size_t most_samples; /* beyond so many, samples in one slice of time with
                             the same thread, node and event become one, most of
                             them at once; 0: none do */

    uint64_t from_ns, to_ns;        /* [from, to) after the profile's start; */
    uint8_t has_to;                 /* there is a `to` */
    uint8_t by_clock;               /* both are of CLOCK_MONOTONIC instead */
    const struct jr_starts *starts; /* NULL: that of each process */

    const char **spans; /* only moments of threads in these spans of theirs; */
    size_t nspans, spans_room; /* none: all */

    const char **process; /* only processes that one of these is about: a pid,
                             a program, a pattern of the command; none: all
                             (select.c) */
    size_t nprocess, process_room;
};

static inline int jr_filter_needs(const struct jr_filter *filter, unsigned mask)
{
    return (filter->needs & mask) != 0;
}

/* A stretch of time, [from_ns, until_ns). */
struct jr_span {
    uint64_t from_ns, until_ns;
};

/* How many sections the runs of its log have that are before and after a run:
 * sections are numbered through a log. */
struct jr_neighbours {
    uint64_t before, after;
};

/* What was counted, for one process or for all. */
struct jr_stats {
    uint64_t samples;       /* kept by the filter */
    uint64_t weight_ns;     /* of those */
    uint64_t cpu_ns;        /* of those that stand for CPU time */
    uint64_t blocked_ns;    /* real time in which the thread was waiting, */
    uint64_t ready_ns;      /* and in which it waited for a CPU */
    uint64_t timer_samples; /* those that a timer took, */
    uint64_t timer_ns;      /* and their weight */
    uint64_t wall_ns;       /* real time profiled; of all: by any of them; */
    uint64_t kept_ns;       /* and how much of it the log holds: rings may
                               have been overwritten */
    uint64_t filtered;      /* samples that -e or -i dropped */
    uint64_t reasons[JP_REASON_COUNT]; /* why the stacks of samples end */
    uint64_t frames;         /* of the kept samples, before -s cuts; */
    uint64_t inlined_frames; /* beside them: functions inlined into those */
    uint64_t lines_known;    /* of `frames` those with a source line, */
    uint64_t unnamed_frames; /* those without a name, */
    uint64_t bare_ns;        /* weight of samples in code without a name, */
    uint64_t nameless_ns;    /* of them those called by such code or nobody */
    uint64_t jit_frames;     /* those in JIT code, */
    uint64_t jit_named;      /* of them those with a name, */
    uint64_t jit_late;       /* of these those described only later */
    uint64_t jit_files;      /* perf maps and jitdumps read */
    uint64_t jit_bad_lines;  /* their line tables that were garbage */
    uint64_t jit_unread;     /* those that could not be read */
    uint64_t jit_mismatched; /* addresses where other code was than a jitdump
                                says, */
    uint64_t jit_wiped;      /* and where the code had been freed and wiped */
    uint64_t lost[JR_LOST_COUNT]; /* by enum jp_counter */
    uint64_t lost_ns;
    uint64_t rule_hits;   /* frames whose unwinding rule was at hand, */
    uint64_t rule_misses; /* and rules that had to be made; whole run */
    uint64_t lowered;     /* samples at a lower rate than was asked for, */
    uint64_t lowered_ns;  /* and their weight; whole run */
    uint64_t threads;     /* seen in the kept samples */
    uint64_t sections;    /* that the filter selects */
    uint64_t open_ns;     /* real time after the last samples of threads */
    uint64_t open;        /* that were waiting, and how many these are */
    uint64_t gone;        /* samples that the process, which goes on, has
                             overwritten while they were read */
};

/* What the code of a process is. */
struct jr_code {
    const struct jr_map *map;
    struct jr_space *space;
};

/* One process image: a run of a log with its map. */
struct jr_process {
    const struct jr_run *run;
    const struct jr_map *map; /* empty when there was none */
    struct jr_space *space;
    struct jr_span span; /* of time that the filter selects */
    struct jr_neighbours neighbours;
    uint8_t side;        /* enum jr_side */
    size_t all_sections; /* in the run */
    struct jr_stats stats;
    size_t first_bucket, nbuckets;
    struct jr_inside inside; /* with filter.spans */
    struct jr_found *found;  /* with JR_NEEDS_REPLAY; else NULL */
};

/* The short form of its name is made when it is asked for (jr_short_find,
 * symbol/names/short.h), by one rule for all writers. */
struct jr_function {
    const char *name, *module; /* belong to the jr_symbols */
    const char *tier;          /* that tells it from others; NULL */
    const char *raw;           /* as a runtime wrote it first, or as the
                                  first symbol is; NULL: `name` */
    uint32_t first_tier;       /* plus one; its others are in by_tier */
    uint32_t first_line;       /* where it is declared; 0: not known */
    uint8_t kind;              /* enum jr_frame_kind */
    uint8_t hook;              /* libjprof.so stands before it */
    uint8_t inlined;           /* as part of its callers; where it is a function
                                  of its own, it is another one here */
};

/* A function in one of its tiers.  Each has one at least. */
struct jr_tier {
    const char *word; /* "TurboFan"; NULL: its runtime says none */
    const char *raw;  /* its name as the runtime wrote it first */
    uint32_t function;
};

struct jr_arc {
    uint32_t caller, callee; /* functions */
};

#define JR_NO_ARC UINT32_MAX

/* What a node of the tree of call paths is the first of on its way from the
 * root. */
enum jr_first { JR_FIRST_FUNCTION = 1, JR_FIRST_TIER = 2, JR_FIRST_ARC = 4 };

/* Weight that was sampled at one node in one bucket. */
struct jr_leaf {
    uint32_t bucket, node;
    uint64_t weight_ns, samples;
};

/* An address of a file's code, or of JIT code with a name, that was the leaf of
 * samples.  An address that held different code over time has several. */
struct jr_spot {
    uint64_t address, time_ns; /* time: of the first sample */
    uint64_t weight_ns, samples;
    uint32_t process, tier; /* tier: of the innermost inlined function */
};

#define JR_NO_SPOT UINT32_MAX

/* A counter of samples: one a process, one a thread with by_thread, or one a
 * thread and event with JR_NEEDS_EVENT_SUMS. */
struct jr_bucket {
    uint32_t process, tid; /* tid 0: all threads */
    uint8_t event;         /* enum jp_event, with JR_NEEDS_EVENT_SUMS */
    uint64_t weight_ns, samples;
    size_t first_leaf, nleaves; /* after jr_model_finish */
};

/* A thread of a process, with what the filter keeps of it. */
struct jr_thread {
    uint32_t process, tid;
    uint64_t weight_ns, samples;
    uint64_t first_ns, last_ns; /* of its samples */
};

/* A kept sample, or several of a slice of time: the time is that of the
 * first. */
struct jr_seen {
    uint64_t time_ns, weight_ns;
    uint32_t node;        /* where its stack ends; 0: the empty stack */
    uint32_t spot;        /* of the model; JR_NO_SPOT: none */
    uint32_t thread : 28; /* of jr_model.threads */
    uint32_t event : 4;   /* enum jp_event */
};

#define JR_THREADS_MAX (1U << 28)

struct jr_model {
    struct jr_filter filter; /* its strings must outlive the model */
    uint8_t side;            /* enum jr_side of what jr_model_add adds */
    uint8_t compares;        /* there are two sides */
    char **made_names;       /* of functions (jr_diff_join) */
    size_t nmade_names, made_names_room;
    struct jr_process *processes;
    size_t nprocesses, processes_room;
    struct jr_function *functions;
    size_t nfunctions, functions_room;
    struct jr_tier *tiers;
    size_t ntiers, tiers_room;
    struct jr_arc *arcs;
    size_t narcs, arcs_room;
    struct jr_places places; /* with JR_NEEDS_PLACES */
    struct jr_paths nodes;   /* call paths: keys are tiers, or with
                              JR_NEEDS_PLACES places; node 0 is above every
                              root.  Paths that differ in keys have nodes of
                              their own, where the functions are the same too */
    uint8_t *first;          /* by node: enum jr_first; and the arc from its */
    uint32_t *node_arcs;     /* parent's function, JR_NO_ARC: none (NULL
                              without JR_NEEDS_CALLS); both after
                              jr_model_finish */
    struct jr_leaf *leaves;
    size_t nleaves, leaves_room;
    struct jr_bucket *buckets;
    size_t nbuckets, buckets_room;
    struct jr_spot *spots;
    size_t nspots, spots_room;
    struct jr_thread *threads;     /* with JR_NEEDS_SAMPLE_LIST or _REPLAY; */
    size_t nthreads, threads_room; /* those of a process stand together */
    struct jr_seen *seen;    /* with JR_NEEDS_SAMPLE_LIST; those of a process */
    size_t nseen, seen_room; /* stand together, in order of time */
    uint64_t slice_ns;       /* in which samples of seen are one, unless a
                                section begins between; 0: none are */
    uint32_t slices;         /* how often slice_ns has changed */
    struct jr_marks marks;   /* of the program, by process */
    struct jr_times times;   /* of real time */
    struct jr_span *profiled; /* stretches of time, of all processes */
    size_t nprofiled, profiled_room;
    uint8_t foreign;       /* of another tool's profile: sums without times */
    struct jr_stats total; /* after jr_model_finish */
    uint64_t period_ns;    /* the unit of weights: that of process 0 */
    struct jr_table by_name, by_tier, by_part;
    struct jr_index by_leaf; /* leaves, until jr_model_finish */
    uint32_t *frame_tiers;   /* by number of the frame, plus one */
    size_t nframe_tiers;
    uint32_t *path; /* scratch: keys of a stack */
    size_t npath, path_room;
    uint8_t *named;           /* -i, then -e: a frame had this name */
    jr_progress_fn *progress; /* of samples; may be NULL */
    void *progress_data;
};

/* The tier that the key of a node means. */
static inline uint32_t jr_key_tier(const struct jr_model *model, uint32_t key)
{
    return jr_filter_needs(&model->filter, JR_NEEDS_PLACES)
               ? model->places.items[key].tier
               : key;
}

/* The tier of a node that is not node 0; and its function. */
static inline uint32_t jr_node_tier(const struct jr_model *model, size_t node)
{
    return jr_key_tier(model, model->nodes.items[node].key);
}

static inline uint32_t jr_node_function(const struct jr_model *model,
                                        size_t node)
{
    return model->tiers[jr_node_tier(model, node)].function;
}

/* The number of an answer for the sample's stack: with filter.split, a stack
 * has one for each event. */
static inline size_t jr_answer_number(const struct jr_filter *filter,
                                      const struct jr_sample *sample)
{
    return filter->split
               ? (size_t)sample->stack * JP_EVENT_COUNT + sample->event
               : sample->stack;
}

#endif
