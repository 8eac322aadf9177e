/* SPDX-License-Identifier: MIT
 *
 * One unit of DWARF: where its functions lie, and what was inlined into them.
 * Runs in: analyzer. */
#ifndef JR_UNIT_H
#define JR_UNIT_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "line_table.h"
#include "shared.h"

/* A call that was inlined: a stretch [start, end) of its code, as DWARF counts
 * addresses. */
struct jr_dwarf_call {
    uint64_t start, end;
    Dwarf_Off offset; /* of its entry */
    uint32_t depth;   /* from 1 on: how many inlined calls it is in, and one */
};

/* A stretch [start, end) of a function's code. */
struct jr_dwarf_function {
    uint64_t start, end;
    Dwarf_Off offset;            /* of its entry */
    struct jr_dwarf_call *calls; /* each before those in it, once looked up */
    size_t ncalls, calls_room;
    uint8_t looked_up;
    uint8_t kept; /* of several at one place, the one whose lines are there */
};

struct jr_unit {
    Dwarf_Die head; /* in the file itself: its line table */
    Dwarf_Die tree; /* where its functions are: the same, or of a .dwo */
    Dwarf *dwarf;   /* of the tree */
    struct jr_entries entries;      /* of the tree */
    struct jr_dwarf_shared *shared; /* with the other units of the file */
    struct jr_line_table lines;     /* of the head, if `lines_known` */
    const char *folder; /* in which it was compiled; NULL: no whole path */
    struct jr_dwarf_function *functions; /* by start */
    size_t nfunctions, functions_room;
    uint8_t opened;  /* tree, dwarf and entries are set; */
    uint8_t damaged; /* the tree cannot be gone through; */
    uint8_t indexed; /* its functions are known; */
    uint8_t deep;    /* those within types and other functions, too */
    uint8_t lines_read, lines_known; /* they were read; libdw is not needed */
    uint8_t lines_damaged;           /* there are none */
};

/* Calls `take` for each stretch of an entry's code.  Code that the linker left
 * out is passed over. */
typedef void jr_dwarf_take(void *data, uint64_t start, uint64_t end);
void jr_unit_ranges(Dwarf_Die *die, struct jr_dwarf_shared *shared,
                    jr_dwarf_take *take, void *data);

/* The function of an opened unit that holds `address`, or NULL.  The tree is
 * gone through once, and once more where a function may be within another. */
struct jr_dwarf_function *jr_unit_function(struct jr_unit *unit,
                                           uint64_t address);

/* Finds the calls that were inlined into a function of the unit, if that was
 * not done yet. */
void jr_unit_calls(struct jr_unit *unit, struct jr_dwarf_function *function);

/* Frees what is kept of the unit, not libdw's. */
void jr_unit_free(struct jr_unit *unit);

#endif
