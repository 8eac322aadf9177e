/* SPDX-License-Identifier: MIT
 *
 * Reading the kernel's list of mappings.
 * Runs in: handler, any thread. */
#include "procmaps.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "sig/os/hash.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"

/* struct procmap_query and PROCMAP_QUERY of Linux 6.11's uapi linux/fs.h,
 * which Debian 12's headers do not have yet. */
struct query {
    uint64_t size, query_flags, query_addr;
    uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
    uint64_t vma_name_addr, build_id_addr;
};
#define QUERY _IOWR('f', 17, struct query)
#define QUERY_EXECUTABLE 0x04U /* only such mappings, */
#define QUERY_OR_NEXT 0x10U    /* the next one if none is there, */
#define QUERY_OF_FILE 0x20U    /* only such: enum procmap_query_flags */
_Static_assert(sizeof(struct query) == 104, "struct procmap_query");

int jp_procmaps_open_sig(struct jp_procmaps *reader)
{
    reader->fd = jp_self_open_sig(JP_SELF_MAPS);
    reader->at = reader->end = 0;
    return reader->fd < 0 ? reader->fd : 0;
}

void jp_procmaps_close_sig(struct jp_procmaps *reader)
{
    jp_sys_close_sig(reader->fd);
}

/* Reads until the buffer holds the next line.  Returns the index of its
 * newline, or of the buffer's last byte for a longer line; 0 at the end of the
 * file. */
static size_t line_end_sig(struct jp_procmaps *reader)
{
    size_t scan = reader->at;
    for (;;) {
        for (; scan < reader->end; scan++) {
            if (reader->buffer[scan] == '\n')
                return scan;
        }
        if (reader->at > 0) {
            size_t left = reader->end - reader->at;
            for (size_t i = 0; i < left; i++)
                reader->buffer[i] = reader->buffer[reader->at + i];
            scan -= reader->at;
            reader->at = 0;
            reader->end = left;
        }
        if (reader->end == sizeof(reader->buffer))
            return reader->end - 1;
        long got = jp_sys_read_sig(reader->fd, reader->buffer + reader->end,
                                   sizeof(reader->buffer) - reader->end);
        if (got <= 0)
            return reader->end > reader->at ? reader->end : 0;
        reader->end += (size_t)got;
    }
}

static uint32_t prot_sig(const char *text)
{
    return (text[0] == 'r' ? JP_PROT_READ : 0) |
           (text[1] == 'w' ? JP_PROT_WRITE : 0) |
           (text[2] == 'x' ? JP_PROT_EXEC : 0);
}

/* Takes a line apart: START-END PROT OFFSET MAJOR:MINOR INODE [PATH], see
 * proc(5).  Returns 0 when it is no mapping. */
static int parse_sig(char *line, char *end, struct jp_vma *vma)
{
    const char *at = line;
    vma->start = jp_text_number_sig(&at, end, 16);
    if (at == end || *at++ != '-')
        return 0;
    vma->end = jp_text_number_sig(&at, end, 16);
    if (end - at < 6 || *at++ != ' ')
        return 0;
    vma->prot = prot_sig(at);
    at += 5;
    vma->offset = jp_text_number_sig(&at, end, 16);
    if (at == end || *at++ != ' ')
        return 0;
    vma->major = (uint32_t)jp_text_number_sig(&at, end, 16);
    if (at == end || *at++ != ':')
        return 0;
    vma->minor = (uint32_t)jp_text_number_sig(&at, end, 16);
    if (at == end || *at++ != ' ')
        return 0;
    vma->inode = jp_text_number_sig(&at, end, 10);
    while (at < end && *at == ' ')
        at++;
    vma->path = line + (at - line);
    vma->path_length = (size_t)(end - at);
    return vma->end > vma->start;
}

/* The kernel writes a newline in a path as \012. */
static void unescape_sig(struct jp_vma *vma)
{
    size_t out = 0;
    for (size_t in = 0; in < vma->path_length; in++, out++) {
        char *p = vma->path + in;
        int newline = vma->path_length - in >= 4 && p[0] == '\\' &&
                      p[1] == '0' && p[2] == '1' && p[3] == '2';
        vma->path[out] = newline ? '\n' : p[0];
        in += newline ? 3 : 0;
    }
    vma->path_length = out;
}

int jp_procmaps_next_sig(struct jp_procmaps *reader, struct jp_vma *vma)
{
    for (;;) {
        size_t end = line_end_sig(reader);
        if (end == 0)
            return 0;
        char *line = reader->buffer + reader->at;
        int good = parse_sig(line, reader->buffer + end, vma);
        reader->at = end + 1 < reader->end ? end + 1 : reader->end;
        if (good) {
            unescape_sig(vma);
            return 1;
        }
    }
}

int jp_procmaps_query_sig(uint64_t address, struct jp_vma *vma)
{
    struct query query = {.size = sizeof(query), .query_addr = address};
    const int fd = jp_self_open_sig(JP_SELF_MAPS);
    if (fd < 0)
        return fd;
    const long result =
        jp_sys_sig(SYS_ioctl, fd, (long)QUERY, (long)&query, 0, 0);
    jp_sys_close_sig(fd);
    if (result != 0)
        return (int)result;
    vma->start = query.vma_start;
    vma->end = query.vma_end;
    vma->offset = query.vma_offset;
    vma->inode = query.inode;
    vma->major = query.dev_major;
    vma->minor = query.dev_minor;
    vma->prot = (uint32_t)query.vma_flags & 7U;
    vma->path = NULL;
    vma->path_length = 0;
    return 0;
}

int jp_procmaps_mark_sig(uint32_t most, uint64_t *mark)
{
    uint64_t address = 0, sum = JP_HASH_BEGIN;
    long result = 0;
    const int fd = jp_self_open_sig(JP_SELF_MAPS);
    if (fd < 0)
        return fd;
    for (uint32_t i = 0; i < most; i++) {
        struct query query = {.size = sizeof(query),
                              .query_addr = address,
                              .query_flags = QUERY_EXECUTABLE | QUERY_OR_NEXT |
                                             QUERY_OF_FILE};
        result = jp_sys_sig(SYS_ioctl, fd, (long)QUERY, (long)&query, 0, 0);
        if (result != 0)
            break;
        sum = jp_hash_word_sig(sum, query.vma_start);
        sum = jp_hash_word_sig(sum, query.vma_end);
        sum = jp_hash_word_sig(sum, query.vma_offset);
        sum = jp_hash_word_sig(sum, query.inode);
        sum = jp_hash_word_sig(sum, (uint64_t)query.dev_major << 32 |
                                        query.dev_minor);
        address = query.vma_end;
    }
    jp_sys_close_sig(fd);
    *mark = sum;
    return result == 0 || result == -ENOENT ? 0 : (int)result;
}
