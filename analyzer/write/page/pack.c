/* SPDX-License-Identifier: MIT
 *
 * Packs columns of numbers into blocks of the page.
 * Runs in: analyzer. */
#include "pack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

/* Of zlib's levels the one after which time doubles and size hardly shrinks;
 * doc/bench.md has the figures. */
#define LEVEL 4
#define HEAD 8            /* bytes before the stream */
#define FLUSH_BYTES 49152 /* of base64's input, a multiple of three */

static uint8_t *room_for(struct jr_pack *pack, size_t more)
{
    uint8_t *at;

    while (pack->room - pack->size < more) {
        pack->room = pack->room ? pack->room * 2 : 4096;
        pack->data = jr_realloc(pack->data, pack->room, 1);
    }
    at = pack->data + pack->size;
    pack->size += more;
    return at;
}

void jr_block_open(struct jr_block *block)
{
    *block = (struct jr_block){0};
    block->head = open_memstream(&block->head_text, &block->head_size);
    block->list = open_memstream(&block->list_text, &block->list_size);
    if (block->head == NULL || block->list == NULL)
        jr_no_memory();
    fputs("{\"format\":1", block->head);
}

static void list_column(struct jr_block *block, const char *name, size_t count,
                        unsigned bytes)
{
    fprintf(block->list, "%s{\"name\":\"%s\",\"count\":%zu,\"bytes\":%u}",
            block->nlist++ ? "," : "", name, count, bytes);
}

void jr_block_column(struct jr_block *block, const char *name,
                     const uint64_t *values, size_t count)
{
    uint64_t most = 0;
    unsigned bytes = 1;

    for (size_t i = 0; i < count; i++)
        if (values[i] > most)
            most = values[i];
    if (most > JR_PACK_MOST)
        most = JR_PACK_MOST;
    while (most >> 8 * bytes)
        bytes++;
    list_column(block, name, count, bytes);
    for (unsigned plane = 0; plane < bytes; plane++) {
        uint8_t *at = room_for(&block->columns, count);

        for (size_t i = 0; i < count; i++) {
            uint64_t value = values[i] < most ? values[i] : most;

            at[i] = (uint8_t)(value >> 8 * plane);
        }
    }
}

void jr_block_bytes(struct jr_block *block, const char *name, const char *bytes,
                    size_t count)
{
    list_column(block, name, count, 1);
    if (count > 0)
        memcpy(room_for(&block->columns, count), bytes, count);
}

static void put_u32(uint8_t *at, size_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void put_base64(const uint8_t *data, size_t size, FILE *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = jr_alloc(FLUSH_BYTES / 3 * 4, 1);
    size_t used = 0;

    for (size_t i = 0; i + 2 < size; i += 3) {
        uint32_t three =
            (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8 | data[i + 2];

        for (unsigned digit = 0; digit < 4; digit++)
            text[used++] = digits[three >> (18 - 6 * digit) & 63];
        if (used == FLUSH_BYTES / 3 * 4) {
            fwrite(text, 1, used, out);
            used = 0;
        }
    }
    fwrite(text, 1, used, out);
    free(text);
}

static void deflate_all(z_stream *stream, const void *data, size_t size,
                        int flush, struct jr_pack *into)
{
    const uint8_t *at = data;

    do {
        size_t part = size < 1U << 30 ? size : 1U << 30;
        int last = part == size;

        stream->next_in = (Bytef *)(uintptr_t)at;
        stream->avail_in = (uInt)part;
        do {
            const size_t room = 65536;

            stream->next_out = room_for(into, room);
            stream->avail_out = (uInt)room;
            if (deflate(stream, last ? flush : Z_NO_FLUSH) == Z_STREAM_ERROR)
                jr_no_memory();
            into->size -= stream->avail_out;
        } while (stream->avail_out == 0);
        at += part;
        size -= part;
    } while (size > 0);
}

/* FNV-1a (offset and prime as in its authors' draft-eastlake-fnv), by words. */
static uint32_t checksum(const uint8_t *data, size_t size)
{
    uint32_t sum = 2166136261U;

    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = 0;

        for (unsigned byte = 0; byte < 4 && i + byte < size; byte++)
            word |= (uint32_t)data[i + byte] << 8 * byte;
        sum = (sum ^ word) * 16777619U;
    }
    return sum;
}

/* The compressed block with its length and zeros around it. */
static struct jr_pack squeeze(const struct jr_block *block)
{
    struct jr_pack packed = {0};
    z_stream stream = {0};
    uint8_t length[4];

    put_u32(room_for(&packed, HEAD), 0);
    if (deflateInit(&stream, LEVEL) != Z_OK)
        jr_no_memory();
    put_u32(length, block->head_size);
    deflate_all(&stream, length, sizeof(length), Z_NO_FLUSH, &packed);
    deflate_all(&stream, block->head_text, block->head_size, Z_NO_FLUSH,
                &packed);
    deflate_all(&stream, block->columns.data, block->columns.size, Z_FINISH,
                &packed);
    deflateEnd(&stream);
    put_u32(packed.data, packed.size - HEAD);
    put_u32(packed.data + 4, checksum(packed.data + HEAD, packed.size - HEAD));
    while (packed.size % 3 != 0)
        *room_for(&packed, 1) = 0;
    return packed;
}

void jr_block_close(struct jr_block *block, const char *id, FILE *out)
{
    struct jr_pack packed;

    fclose(block->list);
    fprintf(block->head, ",\"columns\":[%s]}", block->list_text);
    fclose(block->head);
    packed = squeeze(block);
    fprintf(out, "<script type=\"application/octet-stream\" id=\"jprof-%s\">",
            id);
    put_base64(packed.data, packed.size, out);
    fputs("</script>\n", out);
    free(packed.data);
    free(block->head_text);
    free(block->list_text);
    free(block->columns.data);
}
