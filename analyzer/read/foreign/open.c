/* SPDX-License-Identifier: MIT
 *
 * Reads a file of another tool by the reader of its kind.
 * Runs in: analyzer. */
#include "foreign.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "foreign.h"

#define FILE_MAX ((size_t)1 << 30)  /* bytes of a file, */
#define PLAIN_MAX ((size_t)1 << 30) /* and without gzip */
/* Bytes that tell the kind, and those that do where the first line is longer,
 * or a file's marks stand late. */
#define START ((size_t)1 << 16)
#define LONG_START ((size_t)1 << 20)

/* Returns the kind by the beginning of the bytes, of which the file may have
 * more. */
static const struct jr_foreign_kind *kind_by(const uint8_t *data, size_t size,
                                             size_t most, int is_more)
{
    return jr_foreign_kind_of(data, size < most ? size : most,
                              !is_more && size <= most);
}

/* Returns the kind of the file by its first `most` bytes; *is_more: it has
 * more. */
static const struct jr_foreign_kind *look(int fd, size_t most, int *is_more,
                                          int *is_gzip)
{
    const struct jr_foreign_kind *kind;
    uint8_t *start = jr_alloc(most + 1, 1);
    size_t size = jr_file_pread(fd, start, most, 0);

    *is_more = size == most;
    *is_gzip = jr_foreign_is_gzip(start, size);
    if (jr_foreign_unpack(&start, &size, most) != NULL)
        *is_more = 1;
    jr_foreign_decode(&start, &size);
    kind = kind_by(start, size, most, *is_more);
    free(start);
    return kind;
}

int jr_foreign_is(const char *path)
{
    const struct jr_foreign_kind *kind;
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why), is_more, is_gzip;

    if (fd < 0)
        return 0;
    kind = look(fd, START, &is_more, &is_gzip);
    if (!kind && is_more)
        kind = look(fd, LONG_START, &is_more, &is_gzip);
    close(fd);
    return kind != NULL || is_gzip;
}

/* Says of a kind that is not read which file is. */
static void refuse(const struct jr_foreign_kind *kind, const char *path,
                   struct jr_diag *diag)
{
    jr_warn(diag, path, JR_NO_OFFSET, "is %s, which is not read: %s",
            kind->name, kind->advice);
}

int jr_foreign_parse(const uint8_t *data, size_t size, const char *path,
                     struct jr_foreign *foreign, struct jr_diag *diag)
{
    const struct jr_foreign_kind *kind;
    const char *wrong;
    int result = -1;

    *foreign = (struct jr_foreign){.size = size, .period_ns = 1};
    foreign->data = jr_alloc(size + 1, 1);
    if (size > 0)
        memcpy(foreign->data, data, size);
    wrong = jr_foreign_unpack(&foreign->data, &foreign->size, PLAIN_MAX);
    if (wrong)
        jr_warn(diag, path, JR_NO_OFFSET, "%s", wrong);
    jr_foreign_decode(&foreign->data, &foreign->size);
    kind = kind_by(foreign->data, foreign->size, START, 0);
    if (!kind)
        kind = kind_by(foreign->data, foreign->size, LONG_START, 0);
    if (kind && kind->read) {
        foreign->kind = kind->name;
        result = kind->read(foreign, path, diag);
    } else if (kind) {
        refuse(kind, path, diag);
    } else if (foreign->size > 0 && jr_foreign_is_gzip(data, size)) {
        foreign->kind = "a pprof profile"; /* says what it lacks */
        result = jr_foreign_pprof(foreign, path, diag);
    } else {
        jr_warn(diag, path, JR_NO_OFFSET,
                "is no log of jprof and no profile of another tool that is "
                "known by its content; it is left out");
    }
    if (foreign->is_full)
        jr_warn(diag, path, JR_NO_OFFSET,
                "it has more samples or functions than can be read; the rest "
                "is left out");
    return result;
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
    free(foreign->mappings);
    free(foreign->comments);
    for (size_t i = 0; i < foreign->nremarks; i++)
        free(foreign->remarks[i]);
    free(foreign->remarks);
    *foreign = (struct jr_foreign){0};
}
