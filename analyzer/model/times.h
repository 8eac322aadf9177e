/* SPDX-License-Identifier: MIT
 *
 * Real time: what the threads did with it, by function and state, and how sure
 * that is.
 * Runs in: analyzer. */
#ifndef JR_TIMES_H
#define JR_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "read/log.h"
#include "base/table.h"

enum jr_state { JR_RUNNING, JR_BLOCKED, JR_READY, JR_STATES };

/* What a node's samples stand for, by enum jr_state. */
struct jr_node_time {
    uint64_t ns[JR_STATES];
};

/* A thread: what was seen of it last, and all of its time. */
struct jr_timed {
    uint64_t weight_ns, last_ns, time_ns;
    uint64_t until_ns;   /* its samples stand for its time until then */
    uint64_t waited_ns;  /* of them, those that found it waiting to the last */
    uint64_t again_ns;   /* or were added at the last one's moment */
    double drift_ns;     /* by how much the weights since it came to `node` are
                           more than the time between their samples, */
    double rest_ns;      /* what of that was added at the last one's moment, */
    uint64_t most_ns;    /* and the largest weight */
    uint64_t guessed_ns; /* of again_ns, what is not proven */
    uint64_t came_ns;    /* weight of the sample that found it at `node`, if
                               no later one did; else 0 */
    uint64_t elsewhere_ns; /* for how long it had been waiting before that, */
    uint32_t from;         /* the last of that at this node */
    uint32_t node;
    uint8_t event; /* of the last one */
};

/* Blocked time of a thread at a node. */
struct jr_cell {
    uint32_t thread, node;
    uint64_t blocked_ns;
};

/* Threads that may have gone from one node to another at once: the samples that
 * found them there lie in one stratum's time.  Sums of what each sample leaves
 * unsure. */
struct jr_together {
    uint32_t process;
    uint64_t begin_ns;  /* the first sample */
    uint64_t moment_ns; /* the last one */
    double squares;     /* of all, were each for itself */
    double at_moment;   /* sum of those of the last moment, */
    double most;        /* and the square of the largest such sum */
};

/* Threads went from one node to another: the squared error that comes of not
 * knowing when, ns squared. */
struct jr_step {
    uint32_t from, to;
    double variance;
    double short_ns; /* what `to` has too little on the average, at most */
    struct jr_together together;
};

/* The whole squared error of a step, ns squared. */
double jr_step_variance(const struct jr_step *step);

/* All zero: nothing yet.  Node 0 stands for what the filter leaves out. */
struct jr_times {
    uint64_t period_ns; /* a longer stratum is one that threads may share */
    struct jr_node_time *nodes;
    size_t nnodes;
    struct jr_timed *threads;
    size_t nthreads, threads_room;
    struct jr_cell *cells;
    size_t ncells, cells_room;
    struct jr_step *steps;
    size_t nsteps, steps_room;
    struct jr_table by_thread, by_cell, by_step;
};

/* Whether an event stands for real time. */
int jr_is_real(uint8_t event);

/* Counts a sample of real time of process number `process`, whose stack ends at
 * `node`; samples of a thread come in order of time. */
void jr_times_add(struct jr_times *times, uint32_t process, uint32_t node,
                  const struct jr_sample *sample);
void jr_times_free(struct jr_times *times);

/* How the samples of a process end. */
struct jr_ending {
    size_t first;    /* of its threads in jr_times.threads, and all behind */
    uint64_t end_ns; /* the last time that is known of the process */
    uint64_t period_ns;
};

struct jr_path;

/* Adds what is unsure of the last samples of a process's threads; `nodes` are
 * the model's.  Once a process, after its samples. */
void jr_times_end(struct jr_times *times, const struct jr_path *nodes,
                  const struct jr_ending *ending);

/* Of a process that left no word of its end: the time after the last samples
 * of threads that were waiting, in ns, and how many threads these are.  When
 * such a process is killed, the strata that its threads had begun are in no
 * sample. */
uint64_t jr_times_open(const struct jr_times *times,
                       const struct jr_ending *ending, uint64_t *threads);

#endif
