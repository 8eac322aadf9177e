/* SPDX-License-Identifier: MIT
 *
 * Symbols that a mapped ELF file exports, found in the process's memory by the
 * file's GNU hash table.
 * Runs in: handler, any thread. */
#ifndef JP_IMAGE_H
#define JP_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* A mapped file's tables, as addresses in the process. */
struct jp_image {
    uint64_t bias;             /* added to the file's ELF addresses */
    uint64_t symbols, strings; /* DT_SYMTAB, DT_STRTAB */
    uint64_t hash;             /* DT_GNU_HASH */
    uint32_t buckets, offset;  /* the first words of that table: how many */
    uint32_t blooms, shift;    /* buckets, the first hashed symbol, the words
                                  of the bloom filter and its shift */
};

/* Copies memory that may not be mapped.  Returns 0 where it cannot all be
 * read. */
int jp_image_read_sig(uint64_t address, void *to, size_t size);

/* Finds the tables of the file whose offset 0 is mapped at `base`.  All reads
 * are checked copies.  Returns 0 or -errno: -ENOENT for a file that is no ELF
 * file or has no such tables.  Not for two threads at once. */
int jp_image_open_sig(struct jp_image *image, uint64_t base);

/* Returns the address of an exported symbol, 0 for an unknown one.  Sets *size,
 * if it is not NULL, to the symbol's size in bytes. */
uint64_t jp_image_find_sig(const struct jp_image *image, const char *name,
                           uint64_t *size);

#endif
