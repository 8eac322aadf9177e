/* SPDX-License-Identifier: MIT
 *
 * Functions of scripts that a map describes (FORMAT.md, `script`), and their
 * tables of lines.
 * Runs in: analyzer. */
#ifndef JR_SCRIPTS_H
#define JR_SCRIPTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

/* A function that an interpreter runs. */
struct jr_script_function {
    uint32_t id;
    char *name, *file;   /* ""; NULL before it is described */
    uint32_t first_line; /* where it is defined; 0: not known */
    char *lines;         /* its table of lines as the map has it, or NULL */
    size_t nlines, lines_room;
};

/* All zero is empty. */
struct jr_scripts {
    struct jr_script_function *items;
    size_t count, room;
    struct jr_index by_id;
    uint64_t bytes; /* of tables of lines */
};

/* Adds a function; its first description counts.  Takes over the
 * allocated texts `name` and `file`, which may be NULL. */
void jr_scripts_add(struct jr_scripts *scripts, uint32_t id,
                    uint32_t first_line, char *name, char *file);

/* Adds a part to a function's table of lines, behind those before it. */
void jr_scripts_add_lines(struct jr_scripts *scripts, uint32_t id,
                          const char *text, size_t size);
void jr_scripts_free(struct jr_scripts *scripts);

/* Finds the function with a number; NULL for an unknown number. */
const struct jr_script_function *
jr_scripts_find(const struct jr_scripts *scripts, uint32_t id);

/* The line of the place `at`, in bytes of bytecode; 0: not known. */
uint32_t jr_script_line(const struct jr_script_function *function, uint32_t at);

#endif
