/* SPDX-License-Identifier: MIT
 *
 * Buffers: what a sampled thread works with: its chunk of the log, the table
 * of the stacks in it, and room for a stack.  A buffer is taken at a thread's
 * first sample; when the thread ends, the next one goes on with it.
 * Runs in: handler, any thread. */
#ifndef JP_BUFFER_H
#define JP_BUFFER_H

#include <stdatomic.h>
#include <stdint.h>

#include "sample.h"

#define JP_BUFFER_TABLE 1024U
#define JP_BUFFER_PAGES 64U
#define JP_BUFFERS_MAX 16384    /* JP_FREELIST_MAX */
#define JP_BUFFER_STRETCHES 16U /* stacks that one walk may lead through */

/* A stack of the current chunk, by the hash of its frames. */
struct jp_buffer_entry {
    uint32_t tag;
    uint16_t ref;   /* of its record: offset / 8 */
    uint16_t epoch; /* the chunk that it is in; another: empty */
};

/* Where the last walk came through: see walk_quick.c and walk_fp.c.  The frames
 * from `first` on, the root-most last; one more behind them that ends every
 * search. */
#define JP_WALK_CACHE 512U

struct jp_walk_step {
    uint64_t sp, pc, fp;   /* a frame, */
    uint64_t ra_at, fp_at; /* and where its return address and its caller's
                                 frame pointer are; 0: the last, unchanged */
};

struct jp_walk_cache {
    uint32_t first;
    uint32_t epoch; /* of the map */
    uint32_t ready;
    struct jp_walk_step steps[JP_WALK_CACHE + 1];
    struct jp_walk_step fresh[2][JP_WALK_CACHE + 1]; /* of the walk under way:
                                  the last stretch recorded, and the one that
                                  is; in the last place: no more room */
};

/* Where a walk goes back to when it reads what is not there: the registers
 * that a function keeps for its caller (trap.h). */
struct jp_trap {
    uint64_t registers[26]; /* enough on any machine */
};

struct jp_buffer {
    _Atomic uint32_t lock;   /* 1: in use by a sample, 2: a ring takes its
                                 chunk away */
    uint8_t *chunk;          /* mapped, or NULL */
    uint32_t size, used;     /* bytes of the chunk */
    uint32_t next_size;      /* of the next one */
    _Atomic uint64_t offset; /* of the chunk in the file; 0: has none */
    uint32_t ring;           /* the ring that the chunk is part of */
    uint16_t epoch;          /* for the table */
    uint16_t last_ref;       /* the last STACK record, 0: none */
    uint32_t last_depth;     /* frames in `last`, */
    uint32_t last_gap;       /* and its gap */
    uint32_t chain;          /* records that last_ref leads through */
    uint32_t maps_epoch;     /* scan that `pages` and the table rely on */
    uint64_t pages[JP_BUFFER_PAGES]; /* code pages found executable */
    struct jp_buffer_entry table[JP_BUFFER_TABLE];
    uint64_t walker[288]; /* scratch of the walker (libunwind's cursor) */
    uint64_t window[128]; /* a piece of a stack, for walk.c */
    struct jp_buffer_stretch {
        uint64_t from, to; /* of sp, both of them included */
    } stretches
        [JP_BUFFER_STRETCHES];    /* pieces of stacks that a walk has left */
    _Atomic uint64_t rule_hits;   /* frames whose rule was there, and */
    _Atomic uint64_t rule_misses; /* rules made, since both were last told */
    struct jp_walk_cache cache;
    struct jp_trap trap; /* where a walk that faults goes back to */
    /* The stack being collected: frames[0] to frames[depth - 1]. */
    uint32_t depth;
    uint32_t gap;
    uint64_t *frames; /* room for jp_config.depth each */
    uint64_t *last;
    uint64_t walked_ns; /* when it was walked, for a sample that is not
                                 written yet; else 0 */
    uint8_t reason;     /* why the walk ended, enum jp_reason */
    /* A sample taken while the log was being made; its stack is in `last`. */
    uint32_t waiting;
    uint32_t waiting_depth, waiting_gap;
    struct jp_sample waiting_sample;
    uint32_t index; /* of this buffer */
};

/* Whether `address` is in a page that was found executable lately. */
static inline int jp_buffer_has_page_sig(const struct jp_buffer *buffer,
                                         uint64_t address)
{
    const uint64_t page = address >> 12;
    return buffer->pages[page % JP_BUFFER_PAGES] == page && page != 0;
}

/* Takes a buffer for a thread, or NULL when there is no memory. */
struct jp_buffer *jp_buffer_take_sig(void);

/* Passes a buffer on.  Its chunk stays open for the next user. */
void jp_buffer_return_sig(struct jp_buffer *buffer);

/* Adds what the buffer has counted to the log's counters.  Once in some
 * samples: threads would wait for each other at the counters. */
void jp_buffer_flush_counts_sig(struct jp_buffer *buffer);

/* For loops over all: buffers 0 to count - 1 have ever been made; an entry may
 * be NULL for a moment while it is made. */
uint32_t jp_buffers_made_sig(void);
struct jp_buffer *jp_buffer_at_sig(uint32_t index);

/* Forgets every buffer, as a forked child does, whose memory they are not
 * in. */
void jp_buffers_reset_sig(void);

#endif
