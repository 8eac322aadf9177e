/* SPDX-License-Identifier: MIT
 *
 * Places of code: a function at an address of a file and at a source line.
 * Runs in: analyzer. */
#ifndef JR_PLACES_H
#define JR_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "read/map.h"

/* A file with code, or what stands for one: "[jit]", "[vdso]", "". */
struct jr_object {
    const char *path; /* belongs to a map or to the jr_symbols */
    const struct jr_mapping *mapping; /* the first one seen; NULL: no file */
    uint64_t bias;       /* of that mapping: its addresses are counted from
                            `bias` on; 0 without a file */
    uint64_t start, end; /* addresses of that mapping and of the others that
                            have its bias; 0, 0 without a file */
    uint64_t offset;     /* in the file, of `start` */
};

/* One function at one address. */
struct jr_place {
    uint64_t address; /* from the object's zero; a return address minus one */
    const char *file; /* source file, of the jr_symbols; NULL: not known */
    uint32_t line;    /* 0: not known */
    uint32_t object;
    uint32_t tier;   /* of the model */
    uint8_t inlined; /* into the function that is its caller on the stack, at
                        the same address */
};

/* All zero is empty. */
struct jr_places {
    struct jr_place *items;
    size_t count, room;
    struct jr_object *objects;
    size_t nobjects, objects_room;
    struct jr_index by_place, by_object;
};

/* The object of a mapping, or without one (NULL) that of the name `module`,
 * whose pointers are equal where the names are.  Mappings are of one object
 * that have the same path and build-id, or, without one, the same inode and
 * time.  What the result points to must outlive *places. */
uint32_t jr_places_object(struct jr_places *places,
                          const struct jr_mapping *mapping, const char *module);

/* The address in the object of an address in one of its mappings (NULL: none,
 * it stays what it is). */
uint64_t jr_places_relative(const struct jr_mapping *mapping, uint64_t address);

/* The number of the place that equals *place, which is added when it is new. */
uint32_t jr_places_put(struct jr_places *places, const struct jr_place *place);

void jr_places_free(struct jr_places *places);

#endif
