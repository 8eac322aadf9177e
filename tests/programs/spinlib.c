/* SPDX-License-Identifier: MIT
 *
 * The shared object that dlopener loads: a function that uses the CPU.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

NOINLINE void plugin_spin(double seconds);

void plugin_spin(double seconds)
{
    double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - start < seconds)
        turn(200000);
    BARRIER();
}
