/* SPDX-License-Identifier: MIT
 *
 * Writing samples into the log: chunks, stacks, records.  The layout is that
 * of include/jp_log.h.
 * Runs in: handler, any thread. */
#ifndef JP_LOG_WRITE_H
#define JP_LOG_WRITE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "jp_log.h"
#include "sample.h"

struct jp_kit;

enum jp_log_state {
    JP_LOG_NONE = 0,  /* not made yet */
    JP_LOG_CREATING,  /* another thread is making it */
    JP_LOG_READY,
    JP_LOG_FAILED     /* it cannot be made; profiling is off */
};

/* The file, shared by logfile.c, which makes it, and log.c, which fills it. */
#define JP_LOG_TURN_BITS 40U

struct jp_log {
    _Atomic uint32_t state;         /* enum jp_log_state */
    const char *path;               /* absolute */
    uint64_t device, inode;
    uint32_t user;                  /* its owner */
    uint64_t start;                 /* offset of this run's header */
    struct jp_log_header *header;   /* mapped, or memory when direct */
    uint32_t direct;                /* no fallocate here: records by pwrite */
    uint32_t shared;                /* the run is in another process's log */
    uint32_t pid;
    _Atomic uint64_t next;          /* offset of the next chunk */
    _Atomic uint64_t seq;           /* of the last chunk */
    uint64_t ring_start;            /* offset of the first ring */
    _Atomic uint64_t ring;          /* which ring it is now; in the lower
                                       JP_LOG_TURN_BITS, chunks taken of it */
    _Atomic uint64_t grown;         /* the file was so long at least */
    _Atomic uint32_t cut;           /* 1: it is shorter now, by somebody's
                                       doing; 2: that has been told */
    _Atomic uint32_t space_complained;
};
extern struct jp_log jp_log;

/* Writes one sample with the stack that the kit holds (depth 0: none).
 * Returns 0, or -errno when there was no space: the sample is lost and
 * counted. */
int jp_log_write_sig(struct jp_kit *kit, const struct jp_sample *sample);

/* Makes a chunk's place all zeros. */
void jp_log_clean_sig(uint8_t *chunk, uint32_t size);

/* Makes `chunk`, which is all zeros behind its header, one of this run. */
void jp_log_begin_chunk_sig(uint8_t *chunk, uint64_t offset, uint32_t size,
                            uint32_t tid);

/* Bytes of the ring's chunks, and how many there are. */
uint32_t jp_log_ring_chunk_sig(void);
uint32_t jp_log_ring_count_sig(void);

/* Lowers jp_config.depth to what fits into a chunk, which a ring keeps small. */
void jp_log_fit_depth_sig(void);

/* Leaves the ring as it is and starts a new one behind it. */
void jp_log_ring_keep_sig(void);

/* The file reaches to `end` at least. */
void jp_log_grow_sig(uint64_t end);

/* If the log is mapped at the address: puts memory there that is nobody's, in
 * place of the file that was cut short.  Returns whether it is. */
int jp_log_patch_sig(uint64_t address);

/* The log opened for writing, checked to be the file that was made; -errno
 * otherwise. */
int jp_log_open_sig(void);

/* Writes the header again where it is not mapped (direct). */
void jp_log_sync_sig(void);

#endif
