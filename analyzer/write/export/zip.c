/* SPDX-License-Identifier: MIT
 *
 * gzip by zlib, behind a stream of the C library's.
 * Runs in: analyzer. */
#include "zip.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"

#define BUFFER 65536
#define GZIP_WINDOW (15 + 16) /* deflateInit2: the largest, with gzip's head */
#define MEMORY 8              /* deflateInit2: zlib's default */
#define LEVEL 5               /* 6 takes a half longer for 1% less */

struct zip {
    FILE *out;
    z_stream stream;
    uint8_t buffer[BUFFER];
};

/* Compresses what the stream has; `flush` as deflate takes it. */
static void pump(struct zip *zip, int flush)
{
    do {
        zip->stream.next_out = zip->buffer;
        zip->stream.avail_out = BUFFER;
        (void)deflate(&zip->stream, flush);
        fwrite(zip->buffer, 1, BUFFER - zip->stream.avail_out, zip->out);
    } while (zip->stream.avail_out == 0);
}

static ssize_t write_zip(void *cookie, const char *data, size_t size)
{
    struct zip *zip = cookie;

    zip->stream.next_in = (Bytef *)(uintptr_t)data;
    zip->stream.avail_in = (uInt)size;
    pump(zip, Z_NO_FLUSH);
    return ferror(zip->out) ? 0 : (ssize_t)size;
}

static int close_zip(void *cookie)
{
    struct zip *zip = cookie;

    zip->stream.avail_in = 0;
    pump(zip, Z_FINISH);
    (void)deflateEnd(&zip->stream);
    free(zip);
    return 0;
}

FILE *jr_zip_open(FILE *out)
{
    struct zip *zip = jr_alloc(1, sizeof(*zip));
    FILE *stream;

    zip->out = out;
    if (deflateInit2(&zip->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        jr_no_memory();
    stream = fopencookie(
        zip, "w",
        (cookie_io_functions_t){.write = write_zip, .close = close_zip});
    if (stream == NULL)
        jr_no_memory();
    (void)setvbuf(stream, NULL, _IOFBF, BUFFER);
    return stream;
}
