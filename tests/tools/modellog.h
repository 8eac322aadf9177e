/* SPDX-License-Identifier: MIT
 *
 * What the two halves of modellog share: the log's and the map's.
 * Runs in: tests, bench. */
#ifndef MODELLOG_H
#define MODELLOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "jp_log.h"

#define PID 1000U /* of the first process; the others' follow */
#define BEGIN_NS UINT64_C(1000000000000)
#define REAL_NS UINT64_C(1763690400000000000)
#define PERIOD_NS UINT64_C(1000000)
#define JITTER_NS 1024U /* of a weight, so that sums are no whole periods */
#define SLIDE UINT64_C(0x10000) /* each process's code lies so much higher */

struct kit; /* what a thread writes with */

struct mapping {
    uint64_t start, end, offset, bias;
    char *keys;
};

struct list {
    struct mapping *items;
    size_t count;
};

struct keys {
    uint64_t samples, stacks, low, high, spread, threads, processes, zipf,
        sites, swaps, seed;
};

struct maker {
    struct keys keys;
    const char *folder;
    struct list modules, swaps, anon, lines, code;
    uint64_t *sites;
    struct kit *kits;
    unsigned bits; /* of the number of stacks */
    uint64_t random;
    /* Of the process that is being made: */
    unsigned process;
    int fd;
    uint64_t next, seq, now_ns, cpu_ns;
};

/* Says what failed, and ends. */
_Noreturn void fail(const char *what);

/* How far above its place in CODE the process's code lies. */
uint64_t slide_of(const struct maker *maker);

uint32_t pid_of(const struct maker *maker);

/* The path of one of the process's files: jprof-log, jprof-log-1001. */
void path_of(const struct maker *maker, const char *name, char *path,
             size_t size);

/* The program that the process runs. */
const char *exe_of(const struct maker *maker);

/* Writes the process's map; its samples are written. */
void put_map(const struct maker *maker);

/* The process's line in the tree's file, and the launcher's at its end. */
void put_child(const struct maker *maker, FILE *tree);
void put_run(const struct maker *maker, uint64_t cpu_ns, FILE *tree);

#endif
