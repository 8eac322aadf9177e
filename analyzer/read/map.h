/* SPDX-License-Identifier: MIT
 *
 * The map reader: lines of a jprof-map -> checked events of one run.
 * The format is that of doc/FORMAT.md and include/jp_map.h.
 * Runs in: analyzer. */
#ifndef JR_MAP_H
#define JR_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/scripts.h"
#include "mappings.h"

struct jr_thread_name {
    uint64_t time_ns;
    uint32_t tid;
    char *name;
};

/* A sighting of a perf map or jitdump. */
struct jr_jit_file {
    uint64_t time_ns, inode, size;
    uint64_t since_ns; /* until this time at least the file was as the
                          sighting before says; 0: not known */
    uint64_t device;   /* as st_dev; 0: not known */
    uint64_t tail;     /* jr_jit_tail of the file then; 0: not known */
    char *path;
    char *saved; /* file name beside the map, or NULL */
    uint8_t is_dump;
    uint8_t inherited; /* the file is that of the parent process, and had
                          this size at the fork */
};

/* Executable memory that was kept in a file. */
struct jr_code_copy {
    uint64_t time_ns;
    uint64_t start, end; /* addresses, start < end */
    uint64_t offset;     /* in the file */
    char *saved;         /* file name beside the map */
};

/* A thread that runs kernel code alone: what it used since its last such
 * line. */
struct jr_kernel_thread {
    uint64_t time_ns, cpu_ns;
    char *name;
};

/* A moment at which the profile starts, stops or is emptied. */
struct jr_section {
    uint64_t time_ns;
    uint64_t cpu_ns; /* CPU time of the process then */
};

struct jr_map {
    char *path; /* of the map itself */
    uint32_t pid, ppid;
    uint64_t start_ticks;
    uint64_t begin_ns;          /* of the run's first line */
    uint64_t real_ns;           /* the same by CLOCK_REALTIME; 0: not
                                          known */
    char *exe, *comm, *cmdline; /* "" when not known; the arguments of
                                          cmdline are joined by blanks */
    char *host;                 /* likewise: the machine's name */
    uint64_t boot;  /* tells boots of machines apart; the caller's */
    uint8_t packed; /* it is of an archive: no file that it names is opened;
                       the caller's */
    char *cwd;      /* working directory; NULL: not known */
    struct jr_mappings mappings;
    struct jr_thread_name *threads; /* in order of time */
    size_t nthreads, threads_room;
    struct jr_jit_file *jit; /* in order of time */
    size_t njit, jit_room;
    struct jr_code_copy *copies; /* in order of time */
    size_t ncopies, copies_room;
    struct jr_scripts scripts;
    struct jr_kernel_thread *kernel; /* in order of time */
    size_t nkernel, kernel_room;
    struct jr_section *sections; /* in order of time */
    size_t nsections, sections_room;
    struct jr_section *pauses; /* in order; a pause ends a section */
    size_t npauses, pauses_room;
    struct jr_section
        clear;           /* the last time the profile was emptied; 0: never */
    uint64_t end_ns;     /* of `exit`, else of the last line */
    uint64_t end_cpu_ns; /* the last value of cpu= */
    uint8_t exited;      /* an `exit` line was there */
    char **notes;
    size_t nnotes, notes_room;
};

/* Where lines of a run's map stand. */
struct jr_map_part {
    const char *path;    /* path of the file; of a text, of the log that it
                            stands in */
    const uint8_t *data; /* text; of a file, jr_map_read reads it */
    size_t size;
    uint64_t start_ticks; /* of a file: the lines of the process with this
                             pid and these ticks count */
    uint64_t until_ns;    /* lines with a later time do not count */
    uint32_t pid;
    uint8_t is_text; /* lines alone, all of one run */
    uint8_t of_base; /* lines of the process that the run branched off from:
                        only those about code count */
};

/* Reads a run's map from its parts into *map, which the caller has zeroed and
 * given its pid, start_ticks and path (allocated; for messages).  Files are
 * read: their data is not set.  Damage is reported and passed over.  Returns
 * 0, or -1 when a part is not there (said with jr_warn; *map is usable).  The
 * caller frees *map with jr_map_free. */
int jr_map_join(struct jr_map_part *parts, size_t nparts, struct jr_map *map,
                struct jr_diag *diag);

/* Reads the part of the map at `path` that belongs to the process (pid,
 * start_ticks) into *map, likewise, but sets all of it. */
int jr_map_read(const char *path, uint32_t pid, uint64_t start_ticks,
                struct jr_map *map, struct jr_diag *diag);
void jr_map_free(struct jr_map *map);

/* The same for a map that is in memory; the caller has prepared *map as for
 * jr_map_join. */
int jr_map_parse(const uint8_t *data, size_t size, struct jr_map *map,
                 struct jr_diag *diag);

#endif
