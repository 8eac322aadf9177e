/* SPDX-License-Identifier: MIT
 *
 * The log as a file of chunks: opening the file, beginning a chunk, and how a
 * ring is divided into chunks.  log.h writes the records into chunks; storage.h
 * has the kinds of storage that chunks are in.
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
    JP_LOG_FAILED /* it cannot be made, or was cut short; profiling is off */
};

/* jp_log.ring: the ring's number, and below it, in so many bits, how many
 * chunks were taken of that ring. */
#define JP_LOG_TURN_BITS 40U

struct jp_storage;

/* The log, which logfile.c makes and log.c fills. */
struct jp_log {
    _Atomic uint32_t state; /* enum jp_log_state */
    const char *path;       /* absolute */
    uint64_t device, inode;
    uint32_t user;                /* uid of the file's owner */
    uint64_t start;               /* offset of this run's header */
    struct jp_log_header *header; /* mapped, or memory when direct */
    uint32_t direct; /* 1: the file system has no fallocate, so records are
                        written by pwrite */
    uint32_t shared; /* 1: the run is in another process's log */
    const struct jp_storage *storage; /* where its chunks are: storage.h */
    uint32_t pid;
    _Atomic uint64_t next;  /* offset of the next chunk */
    _Atomic uint64_t seq;   /* sequence number of the last chunk */
    uint64_t ring_start;    /* offset of the first ring */
    _Atomic uint64_t ring;  /* see JP_LOG_TURN_BITS */
    _Atomic uint64_t grown; /* the file has been at least this long */
    _Atomic uint32_t cut;   /* 1: somebody has cut the file short; 2: and that
                               has been said */
    _Atomic uint32_t space_complained; /* 1: lack of space has been said */
};
extern struct jp_log jp_log;

/* The first offset from this one on where a header or chunk may begin. */
static inline uint64_t jp_log_align_sig(uint64_t offset)
{
    return (offset + JP_LOG_ALIGN - 1) & ~(uint64_t)(JP_LOG_ALIGN - 1);
}

/* Opens the log for reading and writing, if it is still the file that was
 * made.  The caller closes the descriptor.  -errno otherwise; -ESTALE: another
 * file. */
int jp_log_open_sig(void);

/* Remembers that the file is at least `end` bytes long. */
void jp_log_grow_sig(uint64_t end);

/* Remembers that somebody has cut the file short.  jp_control_check_sig ends
 * the profile at the end of the signal. */
void jp_log_tell_cut_sig(void);

/* Writes the header into the file, if it is not mapped (direct). */
void jp_log_sync_sig(void);

/* Fills a chunk's place with zeros. */
void jp_log_clean_sig(uint8_t *chunk, uint32_t size);

/* Writes the header of a chunk of this run, whose other bytes are zeros.
 * offset: in the file; tid: of the thread that takes it. */
void jp_log_begin_chunk_sig(uint8_t *chunk, uint64_t offset, uint32_t size,
                            uint32_t tid);

/* The bytes of each chunk of a ring, and how many chunks a ring has. */
uint32_t jp_log_ring_chunk_sig(void);
uint32_t jp_log_ring_count_sig(void);

/* Lowers jp_config.depth to the frames that fit into a chunk; a ring has small
 * chunks. */
void jp_log_fit_depth_sig(void);

#endif
