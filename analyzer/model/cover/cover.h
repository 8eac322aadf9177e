/* SPDX-License-Identifier: MIT
 *
 * Coverage: how much of the CPU time of a program and its children the samples
 * stand for, and which processes are missing.
 * Runs in: analyzer. */
#ifndef JR_COVER_H
#define JR_COVER_H

#include <stddef.h>
#include <stdint.h>

#include "read/log.h"
#include "read/map.h"
#include "read/tree.h"

/* A gap is a process with more CPU time than this, */
#define JR_GAP_MIN_NS 50000000ULL
/* less than so many percent of it in samples, */
#define JR_GAP_PERCENT 90
/* and more than so many periods missing: what chance makes of a short one. */
#define JR_GAP_PERIODS 2
/* Up to so many may be chance in a process with several threads. */
#define JR_CHANCE_PERIODS 5

/* Of each thread, the CPU time since its timer last ran out, and since the
 * kernel last looked at it (100 to 1,000 times a second), is in no sample. */
#define JR_TICK_NS 4000000ULL

/* A program that a process ran, wherever it is known from.  CPU times are the
 * process's, counted from its own beginning. */
struct jr_cover_image {
    uint32_t tree; /* as jr_cover_tree returned it */
    uint32_t pid, ppid;
    uint64_t start_ticks; /* tells apart processes with one pid */
    uint32_t space;       /* inode of its pid namespace, */
    uint32_t time_space;  /* and of its time namespace; 0: unknown */
    uint64_t midnight_ns; /* its CLOCK_REALTIME less its CLOCK_MONOTONIC, 0:
                             unknown */
    uint64_t shift_ns;    /* modulo 2^64, what was added to its times of
                             CLOCK_MONOTONIC: jr_cover_clocks */
    uint64_t begin_ns;    /* when it was first seen */
    uint64_t unlogged_ns; /* how long its process had been there by then */
    uint64_t read_ns;     /* when cpu_ns was read */
    uint64_t before_ns;   /* CPU time when the profile could begin */
    uint64_t cpu_ns;      /* last known CPU time; 0: not known */
    uint64_t on_ns;       /* CPU time between the two with the profile on */
    uint64_t children_ns; /* CPU time of children waited for */
    uint64_t sampled_ns;  /* CPU time that samples stand for */
    uint64_t lost_ns;     /* CPU time that lost samples stand for */
    uint64_t looking_ns;  /* CPU time of jprof's signals in waiting threads */
    uint64_t making_ns;   /* CPU time that jprof made the log in */
    uint64_t edges_ns;    /* CPU time of threads outside of their clocks */
    uint64_t kernel_ns;   /* CPU time of threads that run kernel code alone */
    uint64_t period_ns;
    uint64_t threads; /* that have samples */
    uint8_t paused;   /* the profile did not run at its end */
    uint8_t cut;      /* older samples were overwritten in the ring */
    uint8_t off;      /* enum jp_off */
    uint8_t refused;  /* threads were refused their timers */
    uint8_t ended;    /* cpu_ns is of the process's end */
    const char *command;
};

/* A process, all its programs together. */
struct jr_cover_process {
    struct jr_cover_image last; /* sampled_ns, lost_ns, looking_ns, making_ns,
                               kernel_ns, children_ns: of all */
    uint64_t before_ns; /* CPU time before its programs' profiles began */
    uint64_t after_ns;  /* and after the profile's end, at the process's */
    uint64_t off_ns;    /* CPU time while the profile did not run */
    uint64_t reaped_ns; /* its and its children's, as its parent saw it */
    uint64_t kids_ns;   /* of the children that are known */
    uint64_t own_ns;    /* all of its CPU time */
    uint64_t end_ns;    /* when it was waited for; 0: not known */
    uint8_t has_log, is_root;
    uint8_t is_brief;  /* it has no log, as no sample found it */
    uint8_t is_orphan; /* nobody is known to have waited for it */
    uint8_t supposed;  /* reaped_ns is nobody's word, but what is left over */
    const struct jr_tree_line *reason; /* why it cannot be profiled, or NULL */
};

/* Processes that are missing for one reason. */
struct jr_gap {
    const char *command; /* of the first; belongs to the input */
    uint32_t pid;        /* likewise */
    uint32_t parent;     /* command is its parent's */
    uint8_t unseen;      /* children of `parent`, or of that many, of which
                            nothing is known but that they were waited for */
    size_t count;        /* processes */
    uint64_t cpu_ns, sampled_ns;
    uint64_t period_ns; /* of the first */
    uint8_t has_log;
    uint8_t brief; /* none of them is one alone: they are one together */
    char *why;
};

struct jr_cover_tree {
    struct jr_tree *file; /* NULL: there is none */
    struct jr_tree_root root;
    uint64_t boot; /* jr_map.boot: pids of other machines are others */
};

/* Threads that run kernel code alone, by what their names begin with. */
#define JR_COVER_KERNELS 8
struct jr_cover_kernel {
    char name[32];
    uint64_t cpu_ns;
};

struct jr_cover {
    struct jr_cover_process *processes;
    size_t nprocesses, processes_room;
    struct jr_cover_process *briefs; /* what lines told, JR_TREE_BRIEF */
    size_t nbriefs, briefs_room;
    struct jr_cover_tree *trees;
    size_t ntrees, trees_room;
    struct jr_cover_kernel kernel[JR_COVER_KERNELS]; /* the last one: others */
    size_t nkernel;
    /* After jr_cover_finish: */
    struct jr_gap *gaps; /* what misses most first */
    size_t ngaps, gaps_room;
    uint64_t cpu_ns;      /* all CPU time that was to be covered, */
    uint64_t sampled_ns;  /* and what of it is in samples */
    uint64_t rest_ns;     /* in it: of processes nothing else is known of */
    uint64_t brief_ns;    /* in it: of processes that no sample found */
    uint64_t before_ns;   /* in it: before programs' profiles began */
    uint64_t after_ns;    /* in it: at processes' ends, after the profile's */
    uint64_t edges_ns;    /* in it: of threads outside of their clocks */
    uint64_t paused_ns;   /* not in it: while profiles did not run, */
    uint64_t looking_ns;  /* what jprof's signals took in waiting threads, */
    uint64_t making_ns;   /* what jprof took to make logs, */
    uint64_t kernel_ns;   /* what kernel threads used, see kernel, */
    uint64_t cut_ns;      /* and of processes whose samples were overwritten */
    uint64_t children_ns; /* not in it: of children, when logs are few */
    uint64_t wall_ns;     /* of the run, as the launcher saw it; 0: not known */
    const char *jit;      /* why nobody asked for names of JIT code, or NULL */
    const char *asked;    /* that they were asked for, or NULL */
    const char *command;  /* that the launcher was given, or NULL */
    size_t nruns;         /* that a launcher made */
    uint8_t known;        /* there is something to say */
    uint8_t whole;        /* all processes are in it, by the launcher's word */
};

/* The launcher reads its children's times in clock ticks, two of them. */
#define JR_COVER_TICKS_NS 20000000ULL
/* What a process's clock may show more than its waiter is told. */
#define JR_COVER_INNER_NS 1000000ULL

static inline uint64_t jr_cover_less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t jr_cover_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The reason that holds until the process executes a program. */
#define JR_COVER_SHARES "memory"

#endif
