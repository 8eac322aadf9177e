/* SPDX-License-Identifier: MIT
 *
 * What stubs.so tells the program that it is loaded into.
 * Runs in: tests. */
#ifndef TEST_STUBS_H
#define TEST_STUBS_H

#define STUB_ANSWER 0x5ca1ab1eL

extern volatile int stubs_on;
extern const char *volatile stub_called;
extern volatile long stub_arguments[6];

#endif
