/* SPDX-License-Identifier: MIT
 *
 * The stack walkers' common interface.  A walker starts from the interrupted
 * context and pushes code addresses, leaf first; frames of jprof's own are
 * never among them.
 * Runs in: handler, any thread. */
#ifndef JP_WALK_H
#define JP_WALK_H

#include <stdint.h>
#include <ucontext.h>

#include "jp_log.h"

struct jp_kit;
struct jp_slot;

/* One walk: where from, within which stack, into which kit. */
struct jp_walk {
    const ucontext_t *context;
    struct jp_slot *slot;
    struct jp_kit *kit;
    uint64_t low, high;   /* the stack: reads stay inside [low, high) */
    uint32_t rooted;      /* high is where the thread's own code begins: all
                             of the stack is there as long as the thread is */
    uint32_t total;       /* frames pushed; more than depth: both ends kept */
};

/* Collects the stack of the interrupted context into kit->frames, depth and
 * gap.  Returns why it ended. */
enum jp_reason jp_walk_sig(struct jp_slot *slot, struct jp_kit *kit,
                           const ucontext_t *context);

/* For walkers: reads `count` words of the stack at `address` (both within
 * bounds).  A stack whose end is not proven is read so that what is no longer
 * mapped is no fault.  Returns 0 when it could not be read. */
int jp_walk_read_sig(const struct jp_walk *walk, uint64_t address,
                     uint64_t *words, uint32_t count);

/* For walkers: adds a frame; returns 0 when the walk is to stop. */
int jp_walk_push_sig(struct jp_walk *walk, uint64_t address);

/* For walkers: sets low and high to the bounds of the stack that sp is on.
 * Returns 0 when it is on none. */
int jp_walk_bounds_sig(struct jp_walk *walk, uint64_t sp);

/* The walkers.  Each expects low and high to be set. */
enum jp_reason jp_walk_fp_sig(struct jp_walk *walk);
enum jp_reason jp_walk_cfi_sig(struct jp_walk *walk);
enum jp_reason jp_walk_libunwind_sig(struct jp_walk *walk);

/* Loads libunwind (RTLD_LOCAL).  Called by the constructor alone, never in a
 * handler.  Returns 0, or -ENOENT when it is not to be had. */
int jp_walk_libunwind_load(void *(*load)(const char *name),
                           void *(*find)(void *library, const char *name));

#endif
