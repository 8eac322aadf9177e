/* SPDX-License-Identifier: MIT
 *
 * Thread buffers: what a sampled thread works with, namely its chunk of the
 * log, the table of the stacks in that chunk, and room for the stack being
 * walked.  A thread takes a buffer at its first sample; when the thread ends,
 * another thread goes on with the buffer and its chunk.
 * Runs in: handler, any thread. */
#ifndef JP_BUFFER_H
#define JP_BUFFER_H

#include <stdatomic.h>
#include <stdint.h>

#include "sample.h"

#define JP_BUFFER_TABLE 1024U /* entries of the table of stacks */
#define JP_BUFFER_PAGES 64U
#define JP_BUFFER_CODES 128U     /* addresses whose code is remembered */
#define JP_BUFFER_CODE_BYTES 16U /* of each, at most */
#define JP_BUFFER_SAMPLES 512U
#define JP_BUFFERS_MAX 16384    /* JP_FREELIST_MAX */
#define JP_BUFFER_STRETCHES 16U /* stacks that one walk may leave */

struct jp_script;

/* A stack of the current chunk, found by the hash of its frames. */
struct jp_buffer_entry {
    uint32_t tag;   /* upper half of the hash */
    uint16_t ref;   /* its record's offset in the chunk / 8 */
    uint16_t epoch; /* jp_buffer.epoch when it was entered; another: empty */
};

/* A sample in the current chunk, found by its thread and stack:
 * log/again.h. */
struct jp_buffer_sample {
    uint32_t tid;
    uint16_t ref; /* offset / 8 of its STACK record */
    uint16_t at;  /* and of its own; 0: none */
};

/* The frames of the last walk, so that the next one need only compare them:
 * see walk_quick.c and walk_fp.c.  They are steps[first] and up, the root-most
 * last; a step of sp UINT64_MAX behind them ends every search. */
#define JP_WALK_CACHE 512U

struct jp_walk_step {
    uint64_t sp, pc, fp; /* a frame */
    uint64_t ra_at;      /* where its return address was read; 0: the last
                            frame, which has no caller */
    uint64_t fp_at;      /* where its caller's frame pointer was read; 0: the
                            frame leaves that unchanged */
};

struct jp_walk_cache {
    uint32_t first;
    uint32_t epoch; /* jp_maps_epoch_sig() when the steps were recorded */
    uint32_t ready; /* 0: never used */
    struct jp_walk_step steps[JP_WALK_CACHE + 1];
    /* Steps that the walk under way records, in two areas by turns: the last
     * stretch and the current one.  The last place of an area takes what there
     * is no room for. */
    struct jp_walk_step fresh[2][JP_WALK_CACHE + 1];
};

/* Where a walk that faults goes back to: the registers that a function keeps
 * for its caller (trap.h). */
struct jp_trap {
    uint64_t registers[26]; /* enough on any machine */
};

struct jp_buffer {
    _Atomic uint32_t lock;   /* 1: a sample is being written, 2: another thread
                              takes the chunk away */
    uint8_t *chunk;          /* mapped, or NULL */
    uint32_t size, used;     /* bytes of the chunk */
    uint32_t next_size;      /* bytes of the chunk after it */
    _Atomic uint64_t offset; /* of the chunk in the file; 0: no chunk */
    uint32_t ring;           /* number of the ring that the chunk is in */
    uint16_t epoch;          /* counts the chunks, for `table` */
    uint16_t last_ref;       /* offset / 8 of the last STACK record; 0: none */
    uint32_t last_depth;     /* frames in `last` */
    uint32_t last_gap;       /* gap of the stack in `last` */
    uint32_t chain;          /* STACK records that last_ref builds on */
    uint32_t maps_epoch;     /* jp_maps_epoch_sig() that `pages` is of */
    uint64_t pages[JP_BUFFER_PAGES]; /* numbers of pages found executable */
    struct jp_buffer_entry table[JP_BUFFER_TABLE];
    struct jp_buffer_sample samples[JP_BUFFER_SAMPLES];
    struct jp_buffer_code {
        uint64_t address; /* 0: none */
        uint8_t bytes[JP_BUFFER_CODE_BYTES];
    } codes[JP_BUFFER_CODES]; /* of files, around addresses found on stacks; of
                                 the same epoch as `pages` */
    uint64_t walker[288];     /* scratch memory of the walker in use */
    uint64_t rows[56];        /* of a table of call-frame information */
    uint64_t window[128];     /* copy of a part of the stack, for walk.c */
    struct jp_buffer_stretch {
        uint64_t from, to;            /* values of sp, both included */
    } stretches[JP_BUFFER_STRETCHES]; /* parts of stacks that the walk left */
    _Atomic uint64_t rule_hits;   /* frames whose rule was in the cache, and */
    _Atomic uint64_t rule_misses; /* rules made, since the last flush */
    struct jp_walk_cache cache;
    struct jp_trap trap;
    /* The stack of the walk: frames[0] (the leaf) to frames[depth - 1]. */
    uint32_t depth;
    uint32_t gap;     /* index before which frames were left out; 0: none */
    uint64_t *frames; /* room for jp_config.depth frames */
    uint64_t *last;   /* the stack written before; as much room */
    uint64_t *sps;    /* of the frames of the last walk; as much room */
    uint8_t ask;      /* the work of jp_walk_sig, enum jp_script_ask */
    struct jp_script *script; /* for frames of scripts; NULL: none were met */
    uint8_t reason;           /* why that walk ended, enum jp_reason */
    /* A sample taken while the log was being made; its stack is in `last`. */
    uint32_t waiting; /* 1: there is one */
    uint32_t waiting_depth, waiting_gap;
    struct jp_sample waiting_sample;
    uint32_t index; /* of this buffer in the table of all */
};

/* Whether `address` is in a page that was found executable lately. */
static inline int jp_buffer_has_page_sig(const struct jp_buffer *buffer,
                                         uint64_t address)
{
    const uint64_t page = address >> 12;
    return buffer->pages[page % JP_BUFFER_PAGES] == page && page != 0;
}

/* Takes a free buffer or makes one.  The caller owns it until
 * jp_buffer_return_sig.  NULL when there is no memory, or all are taken. */
struct jp_buffer *jp_buffer_take_sig(void);

/* Gives a buffer back.  Its chunk stays open for the next owner. */
void jp_buffer_return_sig(struct jp_buffer *buffer);

/* Adds the buffer's rule counts to the log's counters and sets them to 0.
 * Batched: threads would contend for the shared counters. */
void jp_buffer_flush_counts_sig(struct jp_buffer *buffer);

/* For loops over all buffers: how many were ever made, and one of them by its
 * index; NULL for a moment while it is being made. */
uint32_t jp_buffers_made_sig(void);
struct jp_buffer *jp_buffer_at_sig(uint32_t index);

/* Forgets all buffers.  Called in a forked child, whose memory they are not
 * in. */
void jp_buffers_reset_sig(void);

#endif
