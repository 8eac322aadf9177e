/* SPDX-License-Identifier: MIT
 *
 * Blocks of data in the page: a JSON head and columns of numbers, compressed
 * by zlib, as base64.
 * Runs in: analyzer.
 *
 * Before compression a block is the length of its head (4 bytes, least byte
 * first), the head (a JSON object in UTF-8) and its columns.  A column is
 * `bytes` planes of `count` bytes: the lowest byte of all values, then the
 * next one.  The head's member "columns" has name, count and bytes of each, in
 * their order.  Base64 is of the length of the zlib stream (4 bytes), a
 * checksum of the stream (4 bytes: FNV-1a over words of four bytes, zeros
 * behind the last ones; the checksum in the stream is that of the data, and
 * leaves bits of the stream without a meaning), the stream and zeros up to a
 * multiple of three bytes. */
#ifndef JR_PACK_H
#define JR_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Values above this are packed as this: a number of JavaScript holds the sum
 * of many of them. */
#define JR_PACK_MOST ((UINT64_C(1) << 48) - 1)

struct jr_pack {
    uint8_t *data;
    size_t size, room;
};

struct jr_block {
    FILE *head; /* JSON members are written here, each behind a comma */
    char *head_text;
    size_t head_size;
    struct jr_pack columns;
    FILE *list; /* of the columns, for the head */
    char *list_text;
    size_t list_size, nlist;
};

/* An empty block, whose head has the member "format" so far. */
void jr_block_open(struct jr_block *block);

/* Adds a column. */
void jr_block_column(struct jr_block *block, const char *name,
                     const uint64_t *values, size_t count);

/* Adds a column of bytes as they are. */
void jr_block_bytes(struct jr_block *block, const char *name, const char *bytes,
                    size_t count);

/* Writes the block as a script element of that id, which no browser runs, and
 * frees it. */
void jr_block_close(struct jr_block *block, const char *id, FILE *out);

#endif
