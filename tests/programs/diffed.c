/* SPDX-License-Identifier: MIT
 *
 * Work that a comparison of two profiles tells apart:
 *     diffed [BETA=1 [GONE=0 [FRESH=0]]]
 * alpha and gamma do the same in each run, beta BETA times its work; gone and
 * fresh run as often as they are told.  Each is called by alpha's caller and,
 * but for alpha, through `via` as well.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#define UNIT 12000000

static volatile uint64_t sink;

static NOINLINE void alpha(double units)
{
    sink += turn((uint64_t)(units * UNIT));
    BARRIER();
}

static NOINLINE void beta(double units)
{
    sink += turn((uint64_t)(units * UNIT));
    BARRIER();
}

static NOINLINE void gamma_(double units)
{
    sink += turn((uint64_t)(units * UNIT));
    BARRIER();
}

static NOINLINE void gone(double units)
{
    sink += turn((uint64_t)(units * UNIT));
    BARRIER();
}

static NOINLINE void fresh(double units)
{
    sink += turn((uint64_t)(units * UNIT));
    BARRIER();
}

static NOINLINE void via(void (*function)(double), double units)
{
    function(units);
    BARRIER();
}

int main(int argc, char **argv)
{
    const double more = argument(argc, argv, 1, 1);
    const double of_gone = argument(argc, argv, 2, 0);
    const double of_fresh = argument(argc, argv, 3, 0);
    for (int i = 0; i < 12; i++) {
        alpha(4);
        via(beta, more);
        gamma_(2);
        if (of_gone > 0)
            via(gone, of_gone);
        if (of_fresh > 0)
            via(fresh, of_fresh);
    }
    return 0;
}
