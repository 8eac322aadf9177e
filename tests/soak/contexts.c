/* SPDX-License-Identifier: MIT
 *
 * The storm: other stacks and deep ones.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "storm.h"

#include <setjmp.h>
#include <stddef.h>
#include <ucontext.h>

#define SWAPS 200
#define DEPTH 20000

static ucontext_t here, there;
static char there_stack[64 << 10];
static unsigned long swaps;

static void other_side(void)
{
    for (;;) {
        swaps++;
        storm_work(3);
        swapcontext(&there, &here);
    }
}

static void swapping(struct storm_activity *self)
{
    if (self->rounds == 0) {
        getcontext(&there);
        there.uc_stack.ss_sp = there_stack;
        there.uc_stack.ss_size = sizeof(there_stack);
        there.uc_link = NULL;
        makecontext(&there, other_side, 0);
    }
    const unsigned long before = swaps;
    for (int i = 0; i < SWAPS; i++)
        STORM_CHECK(self, swapcontext(&here, &there) == 0);
    STORM_CHECK(self, swaps == before + SWAPS);
}

__attribute__((noinline)) static long deeper(long left)
{
    volatile long mine = left;
    if (left == 0)
        return storm_work(300) == 0;
    return deeper(left - 1) + (mine == left);
}

static void recursion(struct storm_activity *self)
{
    const long depth = (long)(self->rounds * 997 % DEPTH);
    STORM_CHECK(self, deeper(depth) == depth);
}

static jmp_buf out;

__attribute__((noinline)) static void leap(int left)
{
    volatile int mine = left;
    if (left == 0)
        longjmp(out, 9);
    if (mine > 0)
        leap(mine - 1);
    mine++;
}

static void leaps(struct storm_activity *self)
{
    volatile int caught = 0;
    for (volatile int i = 0; i < 100; i++) {
        if (setjmp(out) == 9)
            caught++;
        else
            leap(i);
    }
    STORM_CHECK(self, caught == 100);
}

struct storm_activity storm_contexts[] = {
    {"swapcontext", swapping, 200, 0, 0},
    {"recursion", recursion, 200, 0, 0},
    {"leaps", leaps, 200, 0, 0},
    {NULL, NULL, 0, 0, 0},
};
