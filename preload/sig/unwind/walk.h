/* SPDX-License-Identifier: MIT
 *
 * The state of one walk, which all walkers share.  A walker starts from the
 * interrupted context and pushes code addresses, leaf first.  Frames of the
 * handler are never among them.
 * Runs in: handler. */
#ifndef JP_WALK_H
#define JP_WALK_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "sig/arch/arch.h"
#include "sig/code/ranges.h"
#include "sig/os/foreign.h"
#include "sig/state/buffer.h"
#include "jp_limits.h"
#include "jp_log.h"

struct jp_cfi_values;
struct jp_thread;

/* The process that a walk is in.  A step of a walk makes no system call and
 * looks into no table of mappings itself: it calls these functions.
 * jp_walk_process (walk_process.h) is the process that the library is in. */
struct jp_walk_process {
    /* Copies memory, which may not be mapped, and returns how many bytes; fewer
     * than `size` or -errno where it cannot. */
    long (*read_sig)(uint64_t address, void *to, size_t size);
    /* Whether an address is in executable memory.  The buffer remembers its
     * page. */
    int (*is_code_sig)(struct jp_buffer *buffer, uint64_t address);
    /* Whether an address is known to be executable memory without a file; which
     * known range of executable memory it is in.  Both are answered without a
     * system call; the second returns 0 or -errno. */
    int (*is_anonymous_sig)(uint64_t address);
    int (*find_code_sig)(uint64_t address, struct jp_maps_range *range);
    /* Finds the readable mapping around an address.  Returns 0 or -errno. */
    int (*find_region_sig)(uint64_t address, uint64_t *start, uint64_t *end);
    /* Finds the caller's registers for a frame whose rule is COMPUTED, as
     * jp_cfi_work_out_sig does. */
    int (*work_out_sig)(uint64_t pc, uint32_t epoch, uint64_t *rows,
                        struct jp_cfi_values *values);
};

/* The state of one walk. */
struct jp_walk {
    const struct jp_walk_process *process;
    const ucontext_t *context;
    struct jp_thread *thread;
    struct jp_buffer *buffer;
    uint64_t low, high;    /* the stack: reads stay inside [low, high) */
    uint64_t begin;        /* the sp with which the walk came to this stack */
    uint64_t limit;        /* sp stays at or below this: high, or the begin of
                              a part of this stack that the walk has left */
    uint32_t left;         /* parts of stacks left, in buffer->stretches */
    uint32_t on_own_stack; /* it is the thread's own stack, and high its root */
    uint32_t total;        /* frames pushed */
    uint32_t arrived;      /* frames pushed before the return addresses on this
                              stack */
    uint32_t misses;       /* rules that had to be made */
    uint32_t returns;      /* functions followed from a call to their end */
    uint32_t doubtful;     /* a caller may have been passed over: the stack does
                              not count as complete */
    uint32_t beside;       /* callers on a stack of the language's own (GHC's)
                              have been left out: the walk went along the
                              thread's stack beside it */
    uint32_t sure;         /* on_own_stack, and all of the stack is known to be
                              mapped while nobody changes it (shake.h) */
    uint64_t *next;        /* where the next frame goes in buffer->frames */
    uint64_t *turn, *end;  /* at `end`, next goes on at `turn` */
    ptrdiff_t to_sp;       /* from a frame's place to that of its sp */
    uint32_t moved;        /* 1: steps are recorded in cache.fresh[area]: */
    uint32_t area;
    uint32_t fresh;       /* so many, which go */
    uint32_t kept;        /* in front of this index of cache.steps */
    uint64_t window;      /* the address that buffer->window is a copy of, */
    uint32_t window_size; /* and its bytes; 0: nothing was copied */
};

/* Copies memory of any kind.  Returns 0 where it cannot all be read. */
static inline int jp_walk_copy_sig(const struct jp_walk *walk, uint64_t address,
                                   void *to, size_t size)
{
    return walk->process->read_sig(address, to, size) == (long)size;
}

/* Whether an address is in executable memory. */
static inline int jp_walk_is_code_sig(const struct jp_walk *walk,
                                      uint64_t address)
{
    return jp_buffer_has_page_sig(walk->buffer, address) ||
           walk->process->is_code_sig(walk->buffer, address);
}

/* Whether a word at `address` lies in the stack and is aligned. */
static inline int jp_walk_inside_sig(const struct jp_walk *walk,
                                     uint64_t address)
{
    return address >= walk->low && address <= walk->high - 8 &&
           (address & 7) == 0;
}

/* Reads the word at `address`, which is inside, by a checked copy.  Returns 0
 * when it is not mapped. */
int jp_walk_safe_read_sig(struct jp_walk *walk, uint64_t address,
                          uint64_t *word);

/* Reads the word at `address`, which is inside: directly if the stack is sure.
 * Returns 0 when it is not mapped. */
static inline int jp_walk_read_sig(struct jp_walk *walk, uint64_t address,
                                   uint64_t *word)
{
    if (!walk->sure)
        return jp_walk_safe_read_sig(walk, address, word);
    *word = jp_foreign_word_sig(address);
    return 1;
}

/* Whether the code at the interrupted pc can be read.  It cannot where a
 * program called a function that is not there, and its handler for that fault
 * has not begun: the walk begins below that handler. */
static inline int jp_walk_has_code_sig(const struct jp_walk *walk)
{
    return jp_walk_is_code_sig(walk, jp_arch_pc_sig(walk->context));
}

/* Adds a frame, which has this sp.  Returns 0 when the walk must stop. */
static inline int jp_walk_push_sig(struct jp_walk *walk, uint64_t address,
                                   uint64_t sp)
{
    walk->next[walk->to_sp] = sp;
    *walk->next++ = address;
    if (walk->next == walk->end)
        walk->next = walk->turn;
    return ++walk->total < JP_WALK_MAX;
}

/* Sets the walk back to its beginning: no frame has been pushed. */
void jp_walk_begin_sig(struct jp_walk *walk);

/* Prepares the buffer's cache of the last walk; empties it if the table of
 * ranges has changed since. */
void jp_walk_cache_begin_sig(struct jp_buffer *buffer);

/* Called at the end of a walk: puts the steps recorded in cache.fresh in front
 * of those that still hold, for the next walk. */
void jp_walk_cache_end_sig(struct jp_walk *walk);

/* Sets low and high to the bounds of the stack that sp is on, and on_own_stack
 * and sure.  Returns 0 when sp is on no mapped stack. */
int jp_walk_bounds_sig(struct jp_walk *walk, uint64_t sp);

/* For walks that go from stack to stack.  So that a walk ends, each caller's sp
 * must be above its callee's on the same stack, and no part of a stack that the
 * walk has left is entered again.  (A frame may span such a part, as one does
 * that has an alternate signal stack inside.)
 *
 * rise: whether sp may be raised to this value on the walk's stack; sets the
 * limit anew.  turn: leaves the stack at sp `from` and goes on at `sp`, on the
 * stack that the address `inside` is on; returns 0 when there is no such stack,
 * or the walk has been there. */
int jp_walk_rise_sig(struct jp_walk *walk, uint64_t sp);
int jp_walk_turn_sig(struct jp_walk *walk, uint64_t from, uint64_t sp,
                     uint64_t inside);

#endif
