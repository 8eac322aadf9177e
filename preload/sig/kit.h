/* SPDX-License-Identifier: MIT
 *
 * Kits: what a sampled thread works with: its chunk of the log, the table of
 * the stacks in it, and room for a stack.  A kit is taken at a thread's first
 * sample; when the thread ends, the next one goes on with it.
 * Runs in: handler, any thread. */
#ifndef JP_KIT_H
#define JP_KIT_H

#include <stdatomic.h>
#include <stdint.h>

#include "sample.h"

#define JP_KIT_TABLE 1024U
#define JP_KIT_PAGES 64U
#define JP_KITS_MAX 16384 /* JP_FREELIST_MAX */

/* A stack of the current chunk, by the hash of its frames. */
struct jp_kit_entry {
    uint32_t tag;
    uint16_t ref;             /* of its record: offset / 8 */
    uint16_t epoch;           /* the chunk that it is in; another: empty */
};

struct jp_kit {
    _Atomic uint32_t lock;    /* 1: in use by a sample, 2: a ring takes its
                                 chunk away */
    uint8_t *chunk;           /* mapped, or NULL */
    uint32_t size, used;      /* bytes of the chunk */
    uint32_t next_size;       /* of the next one */
    _Atomic uint64_t offset;  /* of the chunk in the file; 0: has none */
    uint32_t ring;            /* the ring that the chunk is part of */
    uint16_t epoch;           /* for the table */
    uint16_t last_ref;        /* the last STACK record, 0: none */
    uint32_t last_depth;      /* frames in `last` */
    uint32_t chain;           /* records that last_ref leads through */
    uint32_t maps_epoch;      /* scan that `pages` and the table rely on */
    uint64_t pages[JP_KIT_PAGES]; /* code pages found executable */
    struct jp_kit_entry table[JP_KIT_TABLE];
    uint64_t walker[288];     /* scratch of the walker (libunwind's cursor) */
    /* The stack being collected: frames[0] to frames[depth - 1]. */
    uint32_t depth;
    uint32_t gap;
    uint64_t *frames;         /* room for jp_config.depth each */
    uint64_t *last;
    /* A sample taken while the log was being made; its stack is in `last`. */
    uint32_t waiting;
    uint32_t waiting_depth, waiting_gap;
    struct jp_sample waiting_sample;
    uint32_t index;           /* of this kit */
};

/* Takes a kit for a thread, or NULL when there is no memory. */
struct jp_kit *jp_kit_take_sig(void);

/* Passes a kit on.  Its chunk stays open for the next user. */
void jp_kit_return_sig(struct jp_kit *kit);

/* For loops over all: kits 0 to count - 1 have ever been made; an entry may
 * be NULL for a moment while it is made. */
uint32_t jp_kits_count_sig(void);
struct jp_kit *jp_kit_at_sig(uint32_t index);

/* Forgets every kit, as a forked child does, whose memory they are not in. */
void jp_kits_reset_sig(void);

#endif
