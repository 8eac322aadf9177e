/* SPDX-License-Identifier: MIT
 *
 * The log as a file of chunks, before anything is written into them: opening
 * it, beginning a chunk, and how a ring is cut into chunks.  log.h writes the
 * records; reserve.h, share.h and ring.h say where chunks come from.
 * Runs in: handler, any thread. */
#ifndef JP_CHUNK_H
#define JP_CHUNK_H

#include <stdatomic.h>
#include <stdint.h>

#include "jp_log.h"

#define JP_CHUNK_LARGEST 32768U /* bytes, unless one stack needs more */

enum jp_log_state {
    JP_LOG_NONE = 0, /* not made yet */
    JP_LOG_CREATING, /* another thread is making it */
    JP_LOG_READY,
    JP_LOG_FAILED /* it cannot be made; profiling is off */
};

/* The file, shared by logfile.c, which makes it, and log.c, which fills it. */
#define JP_LOG_TURN_BITS 40U

struct jp_log {
    _Atomic uint32_t state; /* enum jp_log_state */
    const char *path;       /* absolute */
    uint64_t device, inode;
    uint32_t user;                /* its owner */
    uint64_t start;               /* offset of this run's header */
    struct jp_log_header *header; /* mapped, or memory when direct */
    uint32_t direct;              /* no fallocate here: records by pwrite */
    uint32_t shared;              /* the run is in another process's log */
    uint32_t pid;
    _Atomic uint64_t next;  /* offset of the next chunk */
    _Atomic uint64_t seq;   /* of the last chunk */
    uint64_t ring_start;    /* offset of the first ring */
    _Atomic uint64_t ring;  /* which ring it is now; in the lower
                                       JP_LOG_TURN_BITS, chunks taken of it */
    _Atomic uint64_t grown; /* the file was so long at least */
    _Atomic uint32_t cut;   /* 1: it is shorter now, by somebody's
                                       doing; 2: that has been told */
    _Atomic uint32_t space_complained;
};
extern struct jp_log jp_log;

/* The log opened for writing, checked to be the file that was made; -errno
 * otherwise.  The caller closes it. */
int jp_log_open_sig(void);

/* Remembers that the file reaches to `end` at least. */
void jp_log_grow_sig(uint64_t end);

/* Remembers that somebody has cut the file short: the end of the signal will
 * see to it. */
void jp_log_tell_cut_sig(void);

/* Writes the header again where it is not mapped (direct). */
void jp_log_sync_sig(void);

/* Makes a chunk's place all zeros. */
void jp_log_clean_sig(uint8_t *chunk, uint32_t size);

/* Makes `chunk`, which is all zeros behind its header, one of this run. */
void jp_log_begin_chunk_sig(uint8_t *chunk, uint64_t offset, uint32_t size,
                            uint32_t tid);

/* Bytes of the ring's chunks, and how many there are. */
uint32_t jp_log_ring_chunk_sig(void);
uint32_t jp_log_ring_count_sig(void);

/* Lowers jp_config.depth to what fits into a chunk, which a ring keeps small.
 * */
void jp_log_fit_depth_sig(void);

#endif
