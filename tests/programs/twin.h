/* SPDX-License-Identifier: MIT
 *
 * A library for twins.c: 32 functions that differ in name alone between the
 * two.  `twin` calls the one with the number that it is given, which raises
 * the clock's signal: a sample is taken in it.
 * Runs in: tests. */
#ifndef TEST_TWIN_H
#define TEST_TWIN_H

#include "common.h"

#include <signal.h>

#define ONE(letter, n)                                                         \
    NOINLINE int twin_##letter##n(void);                                       \
    int twin_##letter##n(void)                                                 \
    {                                                                          \
        int result = raise(SIGPROF) + n;                                       \
        BARRIER();                                                             \
        return result;                                                         \
    }
/* clang-format off */
#define EIGHT(letter, n)                                                      \
    ONE(letter, n##0) ONE(letter, n##1) ONE(letter, n##2) ONE(letter, n##3)   \
    ONE(letter, n##4) ONE(letter, n##5) ONE(letter, n##6) ONE(letter, n##7)
#define NAMES(letter, n)                                                      \
    twin_##letter##n##0, twin_##letter##n##1, twin_##letter##n##2,            \
    twin_##letter##n##3, twin_##letter##n##4, twin_##letter##n##5,            \
    twin_##letter##n##6, twin_##letter##n##7

#define TWIN(letter)                                                          \
    EIGHT(letter, 1) EIGHT(letter, 2) EIGHT(letter, 3) EIGHT(letter, 4)       \
    static int (*const functions[32])(void) = {                               \
        NAMES(letter, 1), NAMES(letter, 2), NAMES(letter, 3),                 \
        NAMES(letter, 4)};                                                    \
    NOINLINE int twin(int number);                                            \
    int twin(int number)                                                      \
    {                                                                         \
        int result = functions[number / 2 % 32]() + 1;                        \
        BARRIER();                                                            \
        return result;                                                        \
    }
/* clang-format on */

#endif
