/* SPDX-License-Identifier: MIT
 *
 * Replays files, and deterministic mutations of them, through a fuzz target
 * without libFuzzer, so that any compiler can do it:
 *     fuzz_TARGET [-n MUTATIONS] [-s SEED] FILE...
 * The file is named on stderr before it is tried; the same numbers give the
 * same mutations again.
 * Runs in: tests. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (16U << 20) /* bytes of a file that are read */
#define PIECE_MAX 64U         /* bytes that a mutation moves or takes out */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
/* A target's own way to change an input, if it has one. */
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                                     size_t most,
                                                     unsigned chosen);

static uint64_t seed = 1;

/* xorshift64*: the same numbers everywhere for the same seed. */
static uint64_t next_random(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545F4914F6CDD1DULL;
}

static size_t below(size_t limit)
{
    return limit == 0 ? 0 : (size_t)(next_random() % limit);
}

/* Values that parsers get wrong, stored over 1, 2, 4 or 8 bytes. */
static void store_edge(uint8_t *data, size_t size)
{
    static const uint64_t edges[] = {0,          1,
                                     0x7f,       0x80,
                                     0xff,       0x7fff,
                                     0x8000,     0xffff,
                                     0x7fffffff, 0x80000000,
                                     0xffffffff, INT64_MAX,
                                     UINT64_MAX, UINT64_MAX - 4095};
    uint64_t value = edges[below(sizeof(edges) / sizeof(edges[0]))];
    size_t width = (size_t)1 << below(4);
    if (width <= size)
        memcpy(data + below(size - width + 1), &value, width);
}

/* Copies a small piece of the input over another piece of it. */
static void copy_piece(uint8_t *data, size_t size)
{
    size_t from = below(size), to = below(size);
    size_t most = size - (from > to ? from : to);
    size_t length = below(PIECE_MAX);
    memmove(data + to, data + from, length < most ? length : most);
}

/* Takes a small piece out; returns the new size. */
static size_t cut_piece(uint8_t *data, size_t size)
{
    size_t at = below(size), less = below(PIECE_MAX);
    less = less < size - at ? less : size - at;
    memmove(data + at, data + at + less, size - at - less);
    return size - less;
}

/* Applies one to eight small changes to `data`; returns the new, never larger
 * size. */
static size_t mutate(uint8_t *data, size_t size)
{
    size_t changes = 1 + below(8);
    while (changes-- > 0 && size > 0) {
        switch (below(4)) {
        case 0:
            data[below(size)] ^= (uint8_t)(1U << below(8));
            break;
        case 1:
            data[below(size)] = (uint8_t)next_random();
            break;
        case 2:
            store_edge(data, size);
            break;
        default:
            copy_piece(data, size);
        }
    }
    /* Rarely, since what moves everything leaves little to parse. */
    if (size > 0 && below(16) == 0)
        size = cut_piece(data, size);
    if (below(16) == 0)
        size = below(size + 1);
    return size;
}

/* For a target's own mutator; `most` is not made use of. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    (void)most;
    return mutate(data, size);
}

static size_t change(uint8_t *data, size_t size)
{
    if (LLVMFuzzerCustomMutator)
        return LLVMFuzzerCustomMutator(data, size, size,
                                       (unsigned)next_random());
    return mutate(data, size);
}

/* Gives the target an exact-size heap copy, so that a checker of addresses
 * sees every read past the end. */
static void try_input(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        exit(2);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Returns the bytes of the file and their number in *size; exits when it
 * cannot be read, since a corpus that is not there tests nothing. */
static uint8_t *read_input(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(INPUT_MAX);
    if (file == NULL || data == NULL) {
        fprintf(stderr, "driver: %s: cannot be read\n", path);
        exit(2);
    }
    *size = fread(data, 1, INPUT_MAX, file);
    fclose(file);
    return data;
}

static void replay(const char *path, unsigned long mutations, uint64_t first)
{
    size_t size;
    uint8_t *data = read_input(path, &size);
    uint8_t *work = malloc(size > 0 ? size : 1);
    if (work == NULL)
        exit(2);
    fprintf(stderr, "driver: %s\n", path);
    try_input(data, size);
    for (unsigned long i = 0; i < mutations; i++) {
        seed = first + i * 0x9E3779B97F4A7C15ULL;
        seed = seed == 0 ? 1 : seed;
        memcpy(work, data, size);
        try_input(work, change(work, size));
    }
    free(work);
    free(data);
}

int main(int argc, char **argv)
{
    unsigned long mutations = 0, files = 0;
    uint64_t first = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) {
            mutations = strtoul(argv[++i], NULL, 0);
        } else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc) {
            first = strtoull(argv[++i], NULL, 0);
        } else {
            replay(argv[i], mutations, first);
            files++;
        }
    }
    printf("driver: %lu files, %lu mutations of each\n", files, mutations);
    return files == 0 ? 2 : 0;
}
