/* SPDX-License-Identifier: MIT
 *
 * The parts of a profile for the Firefox Profiler.
 * Runs in: analyzer. */
#ifndef JR_FIREFOX_H
#define JR_FIREFOX_H

#include "write/export/export.h"
#include "write/export/json_writer.h"
#include "write/export/order.h"
#include "write/who.h"

/* The categories, in their order in the file. */
enum jr_category {
    JR_CATEGORY_OTHER = 0,
    JR_CATEGORY_NATIVE,
    JR_CATEGORY_JIT,
    JR_CATEGORY_IDLE,
    JR_CATEGORY_COUNT
};

/* Subcategories of JR_CATEGORY_IDLE; 0 is "Other". */
enum { JR_IDLE_BLOCKED = 1, JR_IDLE_READY, JR_IDLE_COUNT };

/* A leaf whose samples are of time in which the thread did not run: a stack
 * of its own, since a category belongs to a frame. */
struct jr_idle {
    uint32_t node; /* one of those that are its stack */
    uint8_t kind;  /* JR_IDLE_* */
};

struct jr_firefox {
    const struct jr_report *report;
    const struct jr_model *model;
    struct jr_json json;
    struct jr_order order;
    struct jr_hosts hosts;
    const char **files;     /* by function */
    uint32_t *sources;      /* by function: of the file, plus one; 0: none */
    const char **filenames; /* of the sources */
    size_t nsources, sources_room;
    uint32_t *libs; /* by object: of the list of libs, plus one; 0: none */
    size_t nlibs;
    uint32_t *objects;          /* by function: of its first place, plus one */
    uint32_t *words;            /* by tier: subcategory of JR_CATEGORY_JIT */
    const char **subcategories; /* of that category, from the second on */
    size_t nsubcategories, subcategories_room;
    uint8_t *depths;         /* by place: functions that it was inlined into */
    uint32_t *frames;        /* by place: its row */
    uint32_t *frame_places;  /* by row: the first of its places */
    uint32_t *stacks;        /* by node: its row; not of node 0 */
    uint32_t *stack_nodes;   /* by row: the first of its nodes */
    size_t nframes, nstacks; /* those of idles come behind them */
    struct jr_idle *idles;
    size_t nidles, idles_room;
    struct jr_table by_idle; /* stack, kind */
    uint64_t unit_ns;      /* of weights that are written, and what rounding */
    int16_t *weight_rests; /* has left over, in ns, by stack; the last one is */
    int16_t *cpu_rests;    /* that of the empty stack.  Likewise of CPU time */
    /* marks[first_mark[i]] to marks[first_mark[i + 1] - 1]: the indices of the
     * model's marks that its thread i shows. */
    uint32_t *marks;
    size_t *first_mark;
};

/* firefox_tables.c: the numbers that tables have of each other, and the
 * tables: "libs", and "shared" with all stacks.  jr_firefox_free releases
 * what jr_firefox_number made. */
void jr_firefox_number(struct jr_firefox *firefox);
void jr_firefox_libs(struct jr_firefox *firefox);
void jr_firefox_shared(struct jr_firefox *firefox);
void jr_firefox_free(struct jr_firefox *firefox);

/* firefox_marks.c: finds the thread of each mark; the schema of markers; the
 * markers of the model's thread, sections too where it is the main one. */
void jr_firefox_order_marks(struct jr_firefox *firefox);
void jr_firefox_schema(struct jr_json *json);
void jr_firefox_markers(struct jr_firefox *firefox, uint32_t thread,
                        int is_main);

/* firefox_rows.c: numbers the rows of frames and stacks, whose libs and depths
 * are there; and frees what it made. */
void jr_firefox_number_rows(struct jr_firefox *firefox);
void jr_firefox_free_rows(struct jr_firefox *firefox);

/* The stack of a sample in the table; -1: it is empty. */
int64_t jr_firefox_stack(const struct jr_firefox *firefox,
                         const struct jr_seen *seen);

/* The weight of a sample in whole units, ns.  What that leaves over goes to the
 * next sample of its stack, so that the sum of a stack's is right to half a
 * unit.  The samples must come in one order for each `rests`. */
uint64_t jr_firefox_round(const struct jr_firefox *firefox,
                          const struct jr_seen *seen, int16_t *rests);

/* Sets the address of a place in its library; returns 0 where it has none that
 * the format can hold. */
int jr_firefox_address(const struct jr_firefox *firefox,
                       const struct jr_place *place, uint32_t *address);

#endif
