/* SPDX-License-Identifier: MIT
 *
 * A way through the entries of a unit's tree in their order.  libdw decodes
 * each abbreviation once; entries are passed over by what it says, many times
 * as fast as libdw does it one by one.
 * Runs in: analyzer. */
#ifndef JR_ENTRIES_H
#define JR_ENTRIES_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* How much of a file may still be gone through: entries of trees, and ranges of
 * addresses, of which a hostile file may have many entries share one list. */
struct jr_dwarf_budget {
    uint64_t left;
    uint8_t exceeded;
};

/* Takes so many steps, or one; returns 0 when fewer are left. */
int jr_dwarf_steps(struct jr_dwarf_budget *budget, uint64_t count);
int jr_dwarf_step(struct jr_dwarf_budget *budget);

/* What an abbreviation says; private to entries.c. */
struct jr_entry_shape;

/* The bytes of a tree, and its abbreviations as far as they were met. */
struct jr_entries {
    Dwarf_Die root;
    Dwarf_Off root_offset, unit_offset;
    const uint8_t *start, *end; /* the root entry, and behind the last one */
    uint8_t address_size, offset_size, version;
    uint8_t damaged; /* an entry made no sense where it was come to */
    struct jr_entry_shape **shapes; /* by code */
    size_t nshapes;
};

/* Prepares a tree.  Returns 0, or -1 when it cannot be gone through. */
int jr_entries_open(struct jr_entries *entries, Dwarf_Die *root);
void jr_entries_close(struct jr_entries *entries);

/* An entry on the way. */
struct jr_entry {
    const uint8_t *at;
    int tag;
    unsigned depth;     /* below where the way began: its children have 1 */
    uint8_t has_code;   /* it has ranges; */
    uint8_t is_plain;   /* one range, [low, high) */
    uint64_t low, high; /* valid is_plain */
    const uint8_t *next, *sibling; /* behind its attributes; NULL: not said */
    uint8_t has_children;
};

#define JR_ENTRIES_DEPTH_MAX 512 /* of entries; real trees have some tens */

/* Goes to the first child of the entry at `offset`, or with `entered` of
 * *entry, else to what follows *entry: its sibling or that of one that it is
 * in.  Return 0, or -1 at the end, or where the tree is damaged. */
int jr_entries_first(struct jr_entries *entries, Dwarf_Off offset,
                     struct jr_entry *entry);
int jr_entries_next(struct jr_entries *entries, struct jr_entry *entry,
                    int entered, struct jr_dwarf_budget *budget);

/* The offset of an entry, and the entry as libdw has it. */
Dwarf_Off jr_entries_offset(const struct jr_entries *entries,
                            const struct jr_entry *entry);
Dwarf_Die jr_entries_die(const struct jr_entries *entries,
                         const struct jr_entry *entry);

#endif
