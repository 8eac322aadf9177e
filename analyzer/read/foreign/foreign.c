/* SPDX-License-Identifier: MIT
 *
 * Which kind a file is, its bytes without gzip, and what is read of it.
 * Runs in: analyzer. */
#include "foreign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/mem.h"

#define FILE_MAX ((size_t)1 << 30)  /* bytes of a file, */
#define PLAIN_MAX ((size_t)1 << 30) /* and without gzip */
#define GZIP_WINDOW (15 + 16)       /* inflateInit2: gzip alone */
/* Bytes that tell the kind, and those of a first line that has no end there: it
 * is a whole stack, often a long one. */
#define START 4096
#define LINE_READ ((size_t)1 << 20)
#define SAMPLE_TYPE_TAG 0x0a /* field 1, bytes: pprof begins with it, */
#define MAPPING_TAG 0x1a     /* or with field 3, */
#define TIME_TAG 0x48        /* or with field 9, a number */

static int is_gzip(const uint8_t *data, size_t size)
{
    return size > 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* Protobuf's first field: a ValueType of two small numbers; as jprof-report
 * writes it, a Mapping whose id comes first; as Go does, a time in nanoseconds,
 * which takes nine bytes, none of them but the last a letter. */
static int is_pprof(const uint8_t *data, size_t size)
{
    if (size > 4 && data[0] == MAPPING_TAG)
        return data[1] < 128 && data[2] == 0x08;
    if (size > 10 && data[0] == TIME_TAG)
        return data[1] & data[2] & data[3] & data[4] & data[5] & data[6] &
               data[7] & data[8] & 0x80;
    return size > 4 && data[0] == SAMPLE_TYPE_TAG && data[1] <= 22 &&
           (data[2] == 0x08 || data[2] == 0x10);
}

/* A first line that ends in a blank and a number, and is no script's. */
static int is_collapsed(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    size_t length = end ? (size_t)(end - data) : size, digits = 0;

    if (length > 0 && data[length - 1] == '\r')
        length--;
    if (size > 1 && data[0] == '#' && data[1] == '!')
        return 0;
    if (memchr(data, '\0', length) != NULL)
        return 0;
    while (digits < length &&
           strchr("0123456789.", data[length - 1 - digits]) != NULL)
        digits++;
    return digits > 0 && digits + 1 < length &&
           data[length - 1 - digits] == ' ';
}

int jr_foreign_is(const char *path)
{
    uint8_t *start;
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why), is_one;
    size_t size;

    if (fd < 0)
        return 0;
    start = jr_alloc(START, 1);
    size = jr_file_pread(fd, start, START, 0);
    if (size == START && !memchr(start, '\n', size) &&
        !memchr(start, '\0', size)) {
        start = jr_realloc(start, LINE_READ, 1);
        size += jr_file_pread(fd, start + size, LINE_READ - size, size);
    }
    close(fd);
    is_one = is_gzip(start, size) || is_pprof(start, size) ||
             is_collapsed(start, size);
    free(start);
    return is_one;
}

/* Makes `foreign->data` the bytes that were gzipped, in one member or more.
 * Returns NULL, or what is wrong; what came before it is there. */
static const char *inflate_all(struct jr_foreign *foreign)
{
    z_stream stream = {.next_in = foreign->data,
                       .avail_in = (uInt)foreign->size};
    uint8_t *plain = NULL;
    size_t room = 0, size = 0;
    const char *wrong = NULL;
    int result = Z_OK;

    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        jr_no_memory();
    while (!wrong && (result != Z_STREAM_END || stream.avail_in > 0)) {
        if (result == Z_STREAM_END && inflateReset(&stream) != Z_OK)
            jr_no_memory();
        if (size == room) {
            room = room ? 2 * room : 65536;
            plain = jr_realloc(plain, room, 1);
        }
        stream.next_out = plain + size;
        stream.avail_out = (uInt)(room - size);
        result = inflate(&stream, Z_NO_FLUSH);
        size = room - stream.avail_out;
        if (size > PLAIN_MAX)
            wrong = "is larger than 1 GiB without gzip; the rest is left out";
        else if (result == Z_BUF_ERROR ||
                 (result == Z_OK && size < room && stream.avail_in == 0))
            wrong = "gzip's data is cut off; what is there is read";
        else if (result != Z_OK && result != Z_STREAM_END)
            wrong = "gzip's data is damaged; what is before is read";
    }
    inflateEnd(&stream);
    free(foreign->data);
    foreign->data = plain;
    foreign->size = size;
    return wrong;
}

int jr_foreign_parse(const uint8_t *data, size_t size, const char *path,
                     struct jr_foreign *foreign, struct jr_diag *diag)
{
    const char *wrong;

    *foreign = (struct jr_foreign){.size = size, .period_ns = 1};
    foreign->data = jr_alloc(size + 1, 1);
    if (size > 0)
        memcpy(foreign->data, data, size);
    if (is_gzip(foreign->data, size)) {
        wrong = inflate_all(foreign);
        if (wrong)
            jr_warn(diag, path, JR_NO_OFFSET, "%s", wrong);
    }
    if (foreign->size > 0 &&
        (is_gzip(data, size) || is_pprof(foreign->data, foreign->size)))
        return jr_foreign_pprof(foreign, path, diag);
    if (is_collapsed(foreign->data, foreign->size))
        return jr_foreign_collapsed(foreign, path, diag);
    jr_warn(diag, path, JR_NO_OFFSET,
            "neither a log of jprof, nor a pprof profile, nor collapsed "
            "stacks; it is left out");
    return -1;
}

int jr_foreign_read(const char *path, struct jr_foreign *foreign,
                    struct jr_diag *diag)
{
    struct jr_bytes bytes = {0};
    const char *why;
    int result;

    *foreign = (struct jr_foreign){0};
    if (jr_file_read(path, FILE_MAX, &bytes, &why) != 0) {
        jr_warn(diag, path, JR_NO_OFFSET, "%s; it is left out", why);
        return -1;
    }
    jr_file_read_for(&bytes.info);
    result = jr_foreign_parse(bytes.data, bytes.size, path, foreign, diag);
    free(bytes.data);
    return result;
}

void jr_foreign_free(struct jr_foreign *foreign)
{
    free(foreign->data);
    free(foreign->frames);
    free(foreign->places);
    free(foreign->stacks);
    free(foreign->samples);
    free(foreign->processes);
    free(foreign->threads);
    free(foreign->comments);
    *foreign = (struct jr_foreign){0};
}
