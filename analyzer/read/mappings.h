/* SPDX-License-Identifier: MIT
 *
 * The life of executable mappings: what comes ends what was there.
 * Runs in: analyzer. */
#ifndef JR_MAPPINGS_H
#define JR_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

/* An executable mapping, live in [from_ns, until_ns). */
struct jr_mapping {
    uint64_t start, end;      /* addresses */
    uint64_t offset;          /* in the file */
    uint64_t bias;            /* valid when has_bias */
    uint64_t inode, mtime_ns; /* 0: not known */
    uint64_t from_ns, until_ns;
    uint8_t build_id[32];
    uint8_t build_id_size; /* 0: not known */
    uint8_t has_bias;
    uint8_t anonymous; /* an `anon` line: path is its name or "" */
    uint8_t deleted;
    char *path; /* as in the map: "[vdso]" has no file */
};

/* In order of from_ns. */
struct jr_mappings {
    struct jr_mapping *items;
    size_t count, room;
};

/* The mappings that live at one moment, by index, in order of address; they
 * do not overlap.  Zero is none. */
struct jr_live {
    size_t *indices;
    size_t count, room;
};

/* Ends what lives in [start, end) at `time_ns`.  A mapping that reaches out
 * of the range lives on in a copy for each part outside. */
void jr_mappings_unmap(struct jr_mappings *mappings, struct jr_live *live,
                       uint64_t start, uint64_t end, uint64_t time_ns);

/* Adds `mapping`, ending what it overlaps.  Takes its path over. */
void jr_mappings_add(struct jr_mappings *mappings, struct jr_live *live,
                     const struct jr_mapping *mapping);

#endif
