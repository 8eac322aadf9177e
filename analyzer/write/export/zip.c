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

/* How deflateInit2 compresses.  Columns of JSON are digits that seldom repeat
 * for long: Z_FILTERED, which leaves short repetitions to the codes of single
 * letters, and smaller blocks give 5% less, 6 takes twice the time for 2% less.
 * In pprof files long rows repeat: 6 gives 5% less than 5. */
static const struct {
    int level, memory, strategy;
} ways[] = {
    [JR_ZIPPED_TEXT] = {5, 7, Z_FILTERED},
    [JR_ZIPPED_PROTO] = {6, 8, Z_DEFAULT_STRATEGY},
};

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

FILE *jr_zip_open(FILE *out, enum jr_zipped kind)
{
    struct zip *zip = jr_alloc(1, sizeof(*zip));
    FILE *stream;

    zip->out = out;
    if (deflateInit2(&zip->stream, ways[kind].level, Z_DEFLATED, GZIP_WINDOW,
                     ways[kind].memory, ways[kind].strategy) != Z_OK)
        jr_no_memory();
    stream = fopencookie(
        zip, "w",
        (cookie_io_functions_t){.write = write_zip, .close = close_zip});
    if (stream == NULL)
        jr_no_memory();
    (void)setvbuf(stream, NULL, _IOFBF, BUFFER);
    return stream;
}
