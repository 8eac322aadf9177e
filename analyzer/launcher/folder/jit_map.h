/* SPDX-License-Identifier: MIT
 *
 * Reads the lines of a map that are about JIT files.
 * Runs in: launcher. */
#ifndef JL_JIT_MAP_H
#define JL_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>

/* A line of a map that is about a JIT file. */
struct jl_jit_line {
    char *path;  /* of the file; allocated, as is: */
    char *saved; /* its name in the folder, or NULL */
    uint64_t inode;
    uint8_t kind;         /* JL_PERFMAP or JL_JITDUMP */
    size_t start, length; /* of the line in the map */
};

/* The contents of a map. */
struct jl_jit_map {
    struct jl_jit_line *lines; /* the last one about each file */
    size_t nlines, lines_room;
    uint32_t pid; /* of the process; 0: not known */
};

/* Reads data[0..size), a map; freed with jl_jit_map_free. */
void jl_jit_map_read(struct jl_jit_map *map, const char *data, size_t size);
void jl_jit_map_free(struct jl_jit_map *map);

#endif
