/* SPDX-License-Identifier: MIT
 *
 * The bytes of a file without compression, and its text as UTF-8.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "foreign.h"

#define GZIP_WINDOW (15 + 16) /* inflateInit2: gzip alone */
#define WINDOW_LOG_MAX 27     /* zstd(1) asks for more with --long alone */
#define FIRST_ROOM 65536U

struct plain {
    uint8_t *data;
    size_t size, room;
};

int jr_foreign_is_gzip(const uint8_t *data, size_t size)
{
    return size > 2 && data[0] == 0x1f && data[1] == 0x8b; /* RFC 1952 */
}

int jr_foreign_is_zstd(const uint8_t *data, size_t size)
{
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd}; /* RFC 8878 */

    return size > sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

static void ensure_room(struct plain *plain)
{
    if (plain->size < plain->room)
        return;
    plain->room = plain->room ? 2 * plain->room : FIRST_ROOM;
    plain->data = jr_realloc(plain->data, plain->room, 1);
}

/* Unpacks a gzip file, which may have several members. */
static const char *inflate_all(uint8_t *data, size_t size, size_t most,
                               struct plain *plain)
{
    z_stream stream = {.next_in = data, .avail_in = (uInt)size};
    const char *wrong = NULL;
    int result = Z_OK;

    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        jr_no_memory();
    while (!wrong && (result != Z_STREAM_END || stream.avail_in > 0)) {
        if (result == Z_STREAM_END && inflateReset(&stream) != Z_OK)
            jr_no_memory();
        ensure_room(plain);
        stream.next_out = plain->data + plain->size;
        stream.avail_out = (uInt)(plain->room - plain->size);
        result = inflate(&stream, Z_NO_FLUSH);
        plain->size = plain->room - stream.avail_out;
        if (plain->size > most)
            wrong = "is larger than 1 GiB without gzip; the rest is left out";
        else if (result == Z_BUF_ERROR ||
                 (result == Z_OK && plain->size < plain->room &&
                  stream.avail_in == 0))
            wrong = "gzip's data is cut off; what is there is read";
        else if (result != Z_OK && result != Z_STREAM_END)
            wrong = "gzip's data is damaged; what is before is read";
    }
    inflateEnd(&stream);
    return wrong;
}

static const char *unzst_all(const uint8_t *data, size_t size, size_t most,
                             struct plain *plain)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {data, size, 0};
    const char *wrong = NULL;
    size_t left = 1;

    if (!context || ZSTD_isError(ZSTD_DCtx_setParameter(
                        context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
        jr_no_memory();
    while (!wrong && (left != 0 || in.pos < in.size)) {
        ZSTD_outBuffer out;

        ensure_room(plain);
        out = (ZSTD_outBuffer){plain->data, plain->room, plain->size};
        left = ZSTD_decompressStream(context, &out, &in);
        plain->size = out.pos;
        if (ZSTD_isError(left))
            wrong = "Zstandard's data is damaged; what is before is read";
        else if (plain->size > most)
            wrong = "is larger than 1 GiB without Zstandard; the rest is left "
                    "out";
        else if (left != 0 && in.pos == in.size && out.pos < out.size)
            wrong = "Zstandard's data is cut off; what is there is read";
    }
    ZSTD_freeDCtx(context);
    return wrong;
}

const char *jr_foreign_unpack(uint8_t **data, size_t *size, size_t most)
{
    struct plain plain = {0};
    const char *wrong;

    if (!jr_foreign_is_gzip(*data, *size) && !jr_foreign_is_zstd(*data, *size))
        return NULL;
    wrong = jr_foreign_is_gzip(*data, *size)
                ? inflate_all(*data, *size, most, &plain)
                : unzst_all(*data, *size, most, &plain);
    free(*data);
    ensure_room(&plain);
    *data = plain.data;
    *size = plain.size;
    return wrong;
}

/* Puts a code point as UTF-8; half a surrogate pair becomes U+FFFD. */
static size_t put_utf8(uint32_t code, uint8_t *to)
{
    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd;
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (uint8_t)(0xc0 | code >> 6);
        to[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (uint8_t)(0xe0 | code >> 12);
        to[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        to[2] = (uint8_t)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (uint8_t)(0xf0 | code >> 18);
    to[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
    to[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    to[3] = (uint8_t)(0x80 | (code & 0x3f));
    return 4;
}

static uint32_t unit_at(const uint8_t *data, size_t at, int is_big)
{
    return is_big ? (uint32_t)data[at] << 8 | data[at + 1]
                  : (uint32_t)data[at + 1] << 8 | data[at];
}

static void from_utf16(uint8_t **data, size_t *size)
{
    const int is_big = (*data)[0] == 0xfe;
    /* Two bytes become three at most, and four become four. */
    uint8_t *text = jr_alloc(*size / 2 + 1, 3);
    size_t length = 0;

    for (size_t at = 2; at + 1 < *size; at += 2) {
        uint32_t code = unit_at(*data, at, is_big);

        if (code >= 0xd800 && code < 0xdc00 && at + 3 < *size) {
            const uint32_t low = unit_at(*data, at + 2, is_big);

            if (low >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                at += 2;
            }
        }
        length += put_utf8(code, text + length);
    }
    free(*data);
    *data = text;
    *size = length;
}

void jr_foreign_decode(uint8_t **data, size_t *size)
{
    static const uint8_t mark[3] = {0xef, 0xbb, 0xbf}; /* UTF-8's */
    const size_t most = *size;

    if (most >= 4 && (((*data)[0] == 0xff && (*data)[1] == 0xfe) ||
                      ((*data)[0] == 0xfe && (*data)[1] == 0xff))) {
        from_utf16(data, size);
    } else if (most >= sizeof mark && memcmp(*data, mark, sizeof mark) == 0) {
        *size -= sizeof mark;
        memmove(*data, *data + sizeof mark, *size);
    }
    if (*size > 0 && memchr(*data, '\r', *size) &&
        !memchr(*data, '\n', *size) && !memchr(*data, '\0', *size))
        for (size_t i = 0; i < *size; i++)
            if ((*data)[i] == '\r')
                (*data)[i] = '\n';
}
