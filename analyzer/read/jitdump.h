/* SPDX-License-Identifier: MIT
 *
 * The jitdump reader: a file of records about JIT code, read front to back
 * through a small window; names, code and line tables are left in the file
 * and read when they are asked for.  The format is that of Linux
 * tools/perf/Documentation/jitdump-specification.txt.
 * Runs in: analyzer. */
#ifndef JR_JITDUMP_H
#define JR_JITDUMP_H

#include <stddef.h>
#include <stdint.h>

#include "base/source.h"

#define JR_JITDUMP_NAME_MAX 4096 /* bytes of a name; more are cut */
#define JR_JITDUMP_BIAS                                                        \
    0x40 /* V8 and LLVM add the size of an ELF
                                      header to the addresses of lines */

enum jr_jitdump_type {
    JR_JITDUMP_LOAD = 0,
    JR_JITDUMP_MOVE,
    JR_JITDUMP_DEBUG,
    JR_JITDUMP_CLOSE,
    JR_JITDUMP_UNWINDING,
    JR_JITDUMP_TYPES
};

struct jr_jitdump_record {
    uint64_t offset;     /* where the record is in the file */
    uint64_t time_ns;    /* CLOCK_MONOTONIC, unless has_arch_time */
    uint64_t size;       /* of the record, in bytes */
    uint64_t start;      /* LOAD, MOVE, DEBUG: address of the code (the new
                              one) */
    uint64_t old_start;  /* MOVE: where it was */
    uint64_t code_size;  /* LOAD, MOVE: bytes of code; not 0 */
    uint64_t first_line; /* DEBUG: address in its first entry, 0: none */
    uint32_t type;       /* enum jr_jitdump_type */
    uint32_t pid;        /* LOAD, MOVE: who wrote it, as it says */
};

struct jr_jitdump {
    const struct jr_source *source;
    uint32_t version, header_size, machine, pid;
    uint8_t swapped;       /* the other byte order */
    uint8_t has_arch_time; /* times are of the processor's counter */
    uint64_t at;           /* where the next record starts */
    uint64_t last_ns;      /* time of the record before */
    uint64_t counts[JR_JITDUMP_TYPES];
    uint64_t unknown;       /* records of other types, skipped */
    uint64_t first_unknown; /* where the first of them is, */
    uint32_t unknown_type;  /* and its type */
    uint64_t malformed; /* records with impossible fields, which are left out */
    uint64_t first_malformed;
    uint64_t damages; /* places that held no record and were passed over */
    uint64_t first_damage;
    uint64_t lost_at; /* where reading had to stop before the end,
                                JR_NO_OFFSET: nowhere */
    uint64_t cut_at;  /* where the last record is that the end of the
                                file cuts, JR_NO_OFFSET: none */
    uint8_t *window;
    uint64_t window_at; /* offset of its first byte */
    size_t window_size;
};

/* Starts to read `source`, which must outlive *dump.  Returns 0; an empty
 * file is a dump without records.  Returns -1 with *why set to a static text
 * when it is no jitdump.  The caller frees *dump with jr_jitdump_free in each
 * case. */
int jr_jitdump_begin(struct jr_jitdump *dump, const struct jr_source *source,
                     const char **why);
void jr_jitdump_free(struct jr_jitdump *dump);

/* The next record of a known type with sound fields (a LOAD or MOVE of no
 * bytes is counted and passed over).  Returns 1, or 0 at the end; dump->cut_at
 * and lost_at then say how it ended. */
int jr_jitdump_next(struct jr_jitdump *dump, struct jr_jitdump_record *record);

struct jr_jitdump_line {
    uint64_t address; /* address in the code as it was loaded */
    uint32_t line, discriminator;
    uint32_t file, length; /* of the name in `text`; length 0: not known */
};

struct jr_jitdump_lines {
    struct jr_jitdump_line *items; /* by rising address */
    size_t count;
    char *text;
    uint8_t garbage; /* the record's body is damaged: the file names, or all
                        entries, could not be used */
};

#endif
