/* SPDX-License-Identifier: MIT
 *
 * Frames of Zstandard (RFC 8878).
 * Runs in: analyzer. */
#include "zst.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"

#define BUFFER 65536
#define LEVEL 9
/* What a frame may unpack to: logs have pages of zeros, which pack well. */
#define WHOLE_MAX (UINT64_C(16) << 30)
#define RATIO_MAX 1000
#define ALWAYS (UINT64_C(256) << 20)
#define WINDOW_LOG_MAX 27 /* zstd(1) asks for more with --long alone */

struct packing {
    FILE *out;
    ZSTD_CCtx *context;
    uint8_t buffer[BUFFER];
};

/* Compresses a piece; returns 0, or -1 when it could not be. */
static int pump(struct packing *packing, ZSTD_inBuffer *in,
                ZSTD_EndDirective how)
{
    size_t left;

    do {
        ZSTD_outBuffer out = {packing->buffer, BUFFER, 0};

        left = ZSTD_compressStream2(packing->context, &out, in, how);
        if (ZSTD_isError(left))
            return -1;
        fwrite(packing->buffer, 1, out.pos, packing->out);
    } while (how == ZSTD_e_end ? left != 0 : in->pos < in->size);
    return 0;
}

static ssize_t write_packed(void *cookie, const char *data, size_t size)
{
    struct packing *packing = cookie;
    ZSTD_inBuffer in = {data, size, 0};

    if (pump(packing, &in, ZSTD_e_continue) != 0 || ferror(packing->out))
        return 0;
    return (ssize_t)size;
}

static int close_packed(void *cookie)
{
    struct packing *packing = cookie;
    ZSTD_inBuffer in = {NULL, 0, 0};
    int result = pump(packing, &in, ZSTD_e_end);

    ZSTD_freeCCtx(packing->context);
    free(packing);
    return result;
}

FILE *jr_zst_open(FILE *out)
{
    struct packing *packing = jr_alloc(1, sizeof *packing);
    FILE *stream;

    packing->out = out;
    packing->context = ZSTD_createCCtx();
    if (!packing->context ||
        ZSTD_isError(ZSTD_CCtx_setParameter(packing->context,
                                            ZSTD_c_compressionLevel, LEVEL)) ||
        ZSTD_isError(
            ZSTD_CCtx_setParameter(packing->context, ZSTD_c_checksumFlag, 1)))
        jr_no_memory();
    stream = fopencookie(
        packing, "w",
        (cookie_io_functions_t){.write = write_packed, .close = close_packed});
    if (stream == NULL)
        jr_no_memory();
    (void)setvbuf(stream, NULL, _IOFBF, BUFFER);
    return stream;
}

struct jr_unzst {
    int fd;
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
    uint64_t at;      /* of the file, what was read */
    uint64_t written; /* of the frame, what was unpacked */
    int ended;
    uint8_t buffer[BUFFER];
};

struct jr_unzst *jr_unzst_new(int fd)
{
    struct jr_unzst *unzst = jr_alloc(1, sizeof *unzst);

    unzst->fd = fd;
    unzst->in.src = unzst->buffer;
    unzst->context = ZSTD_createDCtx();
    if (!unzst->context ||
        ZSTD_isError(ZSTD_DCtx_setParameter(unzst->context, ZSTD_d_windowLogMax,
                                            WINDOW_LOG_MAX)))
        jr_no_memory();
    return unzst;
}

void jr_unzst_free(struct jr_unzst *unzst)
{
    if (!unzst)
        return;
    ZSTD_freeDCtx(unzst->context);
    free(unzst);
}

static int is_too_large(const struct jr_unzst *unzst)
{
    return unzst->written > WHOLE_MAX ||
           (unzst->written > ALWAYS && unzst->written / RATIO_MAX > unzst->at);
}

size_t jr_unzst_read(struct jr_unzst *unzst, void *to, size_t size,
                     const char **why)
{
    ZSTD_outBuffer out = {to, size, 0};

    *why = NULL;
    while (out.pos < size && !unzst->ended) {
        const size_t before = out.pos;
        size_t left;

        if (unzst->in.pos == unzst->in.size) {
            unzst->in.size =
                jr_file_pread(unzst->fd, unzst->buffer, BUFFER, unzst->at);
            unzst->in.pos = 0;
            unzst->at += unzst->in.size;
        }
        left = ZSTD_decompressStream(unzst->context, &out, &unzst->in);
        if (ZSTD_isError(left)) {
            *why = ZSTD_getErrorName(left);
            break;
        }
        unzst->written += out.pos - before;
        unzst->ended = left == 0;
        if (is_too_large(unzst)) {
            *why = "it unpacks to more than a profile does";
            break;
        }
        if (left != 0 && unzst->in.size == 0 && out.pos == before) {
            *why = "it is cut short";
            break;
        }
    }
    return out.pos;
}
