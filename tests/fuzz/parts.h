/* SPDX-License-Identifier: MIT
 *
 * Inputs that are several files: of each, a size (u32, little endian) and so
 * many bytes.
 * Runs in: fuzz tests. */
#ifndef TEST_PARTS_H
#define TEST_PARTS_H

#include <stddef.h>
#include <stdint.h>

#define PARTS_MAX 8

/* Where the bytes of a file are in an input, behind their size. */
struct part {
    size_t at, size;
};

/* Finds the `count` files of an input, which may end anywhere.  Returns whether
 * all sizes are there. */
int parts_find(const uint8_t *data, size_t size, size_t count,
               struct part *parts);

/* Changes `size` bytes, which may become `most`; returns how many they are
 * then. */
typedef size_t parts_change(uint8_t *data, size_t size, size_t most,
                            unsigned seed);

/* Has `change` do so with one file of an input, and corrects that file's size,
 * so that those behind it stay what they were; rarely, has the whole input
 * changed as bytes. */
size_t parts_mutate(uint8_t *data, size_t size, size_t most, unsigned seed,
                    size_t count, parts_change *change);

/* libFuzzer's, and tests/fuzz/driver.c's. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
/* A target's own, which both use if it has one. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned seed);

#endif
