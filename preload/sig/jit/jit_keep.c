/* SPDX-License-Identifier: MIT
 *
 * Hard links and copies of JIT files beside the log.
 * Runs in: handler, any thread. */
#include "jit_keep.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "sig/files/mapfile.h"
#include "sig/log/log.h"
#include "sig/log/mine.h"
#include "sig/os/hash.h"
#include "sig/os/own.h"
#include "sig/state/config.h"

#define PIECE (1ULL << 20)
#define PAGE 4096U
#define HOLE_MAX (256ULL << 20) /* after so many zeros, the file has ended */

static char path_buffer[JP_PATH_MAX];

const char *jp_keep_path_sig(const struct jp_keep *keep)
{
    struct jp_text text;
    jp_text_init_sig(&text, path_buffer, sizeof(path_buffer));
    jp_text_add_sig(&text, jp_log.path);
    jp_text_char_sig(&text, '.');
    jp_text_add_sig(&text, keep->stem);
    jp_text_char_sig(&text, '-');
    jp_text_decimal_sig(&text, keep->pid);
    if (keep->number > 1) {
        jp_text_char_sig(&text, '-');
        jp_text_decimal_sig(&text, keep->number);
    }
    jp_text_add_sig(&text, keep->suffix);
    return text.cut ? "" : path_buffer;
}

const char *jp_keep_name_sig(const struct jp_keep *keep)
{
    if (keep->inode == 0)
        return NULL;
    const char *name = jp_keep_path_sig(keep);
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '/')
            name = at + 1;
    }
    return name;
}

int jp_keep_link_sig(struct jp_keep *keep, const char *path,
                     const struct stat *info)
{
    struct stat old;
    int error = -EEXIST;
    if (keep->linked && keep->inode == info->st_ino &&
        jp_sys_stat_sig(jp_keep_path_sig(keep), 0, &old) == 0 &&
        old.st_ino == info->st_ino)
        return 0;
    struct jp_keep fresh = *keep;
    fresh.number = keep->inode == 0 ? 1 : keep->number + 1;
    for (; error == -EEXIST && fresh.number <= JP_KEEP_NUMBER_MAX;
         fresh.number++) {
        const char *to = jp_keep_path_sig(&fresh);
        error = jp_sys_link_sig(path, to);
        /* Another file may have come to the path since `info` was read. */
        if (error == 0 && (jp_sys_stat_sig(to, 0, &old) != 0 ||
                           !jp_file_is_same_sig(info, &old))) {
            jp_file_unlink_sig(to, old.st_dev, old.st_ino);
            return -ESTALE;
        }
        if (error == -EEXIST && jp_sys_stat_sig(to, 0, &old) == 0 &&
            old.st_ino == info->st_ino && old.st_dev == info->st_dev)
            error = 0;
        if (error != -EEXIST)
            break;
    }
    if (error != 0)
        return error;
    fresh.inode = info->st_ino;
    fresh.linked = 1;
    *keep = fresh;
    return 0;
}

int jp_keep_create_sig(struct jp_keep *keep)
{
    int fd = -EEXIST;
    if (keep->number == 0)
        keep->number = 1;
    for (; keep->number <= JP_KEEP_NUMBER_MAX; keep->number++) {
        fd = jp_sys_open_sig(jp_keep_path_sig(keep),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd != -EEXIST)
            break;
    }
    struct stat info;
    if (fd >= 0 && jp_sys_fstat_sig(fd, &info) != 0) {
        jp_sys_close_sig(fd);
        return -EIO;
    }
    if (fd >= 0) {
        keep->made_device = info.st_dev;
        keep->made_inode = info.st_ino;
    }
    return fd;
}

int jp_keep_open_sig(const struct jp_keep *keep)
{
    struct stat info;
    int fd = jp_sys_open_sig(jp_keep_path_sig(keep), O_WRONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    if (jp_may_write_sig(fd, &info) == 0 && info.st_dev == keep->made_device &&
        info.st_ino == keep->made_inode)
        return fd;
    jp_sys_close_sig(fd);
    return -ESTALE;
}

/* Removes the file that is the copy. */
static void remove_sig(const struct jp_keep *keep)
{
    jp_file_unlink_sig(jp_keep_path_sig(keep), keep->made_device,
                       keep->made_inode);
}

/* Makes a file for a copy, in place of the last copy of the same original.
 * Returns its descriptor or -errno. */
static int create_copy_sig(struct jp_keep *keep, uint64_t inode)
{
    if (keep->inode != 0 && keep->inode == inode && !keep->linked)
        remove_sig(keep);
    else if (keep->inode != 0)
        keep->number++;
    keep->inode = 0;
    return jp_keep_create_sig(keep);
}

static uint64_t limit_sig(uint64_t limit)
{
    uint64_t ceiling = jp_sys_file_limit_sig();
    return limit < ceiling ? limit : ceiling;
}

/* Skips a hole of `from` at *at, in both files.  Returns where the next hole
 * begins, UINT64_MAX when the file system knows of none, 0 when there is no
 * data any more. */
static uint64_t skip_hole_sig(int to, int from, off_t *at)
{
    const long data = jp_sys_sig(SYS_lseek, from, *at, SEEK_DATA, 0, 0);
    const long hole =
        data < 0 ? data : jp_sys_sig(SYS_lseek, from, data, SEEK_HOLE, 0, 0);
    if (data == -ENXIO)
        return 0; /* nothing but a hole */
    if (data > *at)
        *at = data;
    jp_sys_sig(SYS_lseek, to, *at, SEEK_SET, 0, 0);
    return hole > *at ? (uint64_t)hole : UINT64_MAX;
}

/* Copies at most `limit` bytes, holes as holes, and closes `to`.  Returns 0 or
 * -errno. */
static int copy_sig(int to, int from, uint64_t limit)
{
    long done = 1;
    off_t at = 0;
    uint64_t hole = 0;
    struct stat info;
    if (jp_sys_fstat_sig(from, &info) != 0 || !S_ISREG(info.st_mode)) {
        jp_sys_close_sig(to);
        return -ESTALE;
    }
    while (done > 0 && (uint64_t)at < limit) {
        if ((uint64_t)at >= hole)
            hole = skip_hole_sig(to, from, &at);
        uint64_t end = hole < limit ? hole : limit;
        if ((uint64_t)at >= end)
            break;
        end -= (uint64_t)at;
        done = jp_sys_sig(SYS_sendfile, to, from, (long)&at,
                          (long)(end < PIECE ? end : PIECE), 0);
    }
    /* A hole at the end. */
    if (done >= 0 && hole == 0 && (uint64_t)info.st_size > (uint64_t)at)
        jp_sys_ftruncate_sig(to, (uint64_t)info.st_size < limit
                                     ? (uint64_t)info.st_size
                                     : limit);
    jp_sys_close_sig(to);
    return done < 0 ? (int)done : 0;
}

int jp_keep_copy_sig(struct jp_keep *keep, int from, uint64_t inode,
                     uint64_t limit)
{
    int to = create_copy_sig(keep, inode);
    if (to < 0)
        return to;
    keep->inode = inode;
    keep->linked = 0;
    return copy_sig(to, from, limit_sig(limit));
}

/* Makes the mapping larger than `at`; returns 0 when that fails.  It may reach
 * beyond the file's end, where the kernel, which reads it for jprof, answers
 * EFAULT. */
static int grow_sig(void **memory, uint64_t *size, uint64_t at)
{
    if (at < *size)
        return 1;
    long moved = jp_sys_sig(SYS_mremap, (long)*memory, (long)*size,
                            (long)(*size * 2), MREMAP_MAYMOVE, 0);
    if (moved < 0 && moved > -4096)
        return 0;
    *memory = (void *)moved;
    *size *= 2;
    return 1;
}

static int is_zero_sig(const uint64_t *words)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < PAGE / sizeof(*words); i++)
        all |= words[i];
    return all == 0;
}

int jp_keep_mapping_sig(struct jp_keep *keep, void **memory, uint64_t *size,
                        uint64_t inode, uint64_t limit)
{
    static uint64_t page[PAGE / sizeof(uint64_t)];
    const int to = create_copy_sig(keep, inode);
    const uint64_t end = limit_sig(limit);
    uint64_t at = 0, data_end = 0;
    if (to < 0)
        return to;
    /* A mapping does not tell where the file has holes: pages of zeros count as
     * holes. */
    while (at < end && at - data_end < HOLE_MAX && grow_sig(memory, size, at)) {
        const long got = jp_self_read_sig((uint64_t)*memory + at, page, PAGE);
        const uint64_t piece = PAGE < end - at ? PAGE : end - at;
        if (got != PAGE)
            break;
        if (!is_zero_sig(page)) {
            if (jp_sys_pwrite_sig(to, page, piece, at) != (long)piece)
                break;
            data_end = at + piece;
        }
        at += piece;
    }
    jp_sys_close_sig(to);
    keep->inode = inode;
    keep->linked = 0;
    return at > 0 ? 0 : -EIO;
}

void jp_keep_replace_link_sig(struct jp_keep *keep)
{
    static char path[JP_PATH_MAX];
    struct jp_keep copy = *keep;
    struct jp_text text;
    int error = -EIO;
    if (!keep->linked)
        return;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, jp_keep_path_sig(keep));
    int fd = jp_sys_open_sig(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return;
    copy.number++;
    int to = jp_keep_create_sig(&copy);
    if (to >= 0)
        error = copy_sig(to, fd, limit_sig(UINT64_MAX));
    jp_sys_close_sig(fd);
    if (error == 0)
        error = jp_sys_rename_sig(jp_keep_path_sig(&copy), path);
    if (error == 0)
        keep->linked = 0;
    else if (to >= 0)
        remove_sig(&copy);
}

#define TAIL_WORDS 8U

/* A hash of the last bytes of the first `size` bytes of a file, by which a
 * reader knows them again in a file that has grown. */
static uint64_t tail_sig(int fd, uint64_t size)
{
    uint64_t words[TAIL_WORDS] = {0}, hash = JP_HASH_BEGIN;
    uint64_t at = size < sizeof(words) ? 0 : size - sizeof(words);
    jp_sys_pread_sig(fd, words, size - at, at);
    for (unsigned i = 0; i < TAIL_WORDS; i++)
        hash = jp_hash_word_sig(hash, words[i]);
    return hash;
}

void jp_keep_put_sig(struct jp_text *text, const struct stat *info,
                     const struct jp_keep *keep, int fd)
{
    jp_mapfile_key_sig(text, "dev");
    jp_text_decimal_sig(text, (info->st_dev >> 8) & 0xfff);
    jp_text_char_sig(text, ':');
    jp_text_decimal_sig(text,
                        (info->st_dev & 0xff) | (info->st_dev >> 12 & 0xfff00));
    jp_mapfile_decimal_sig(text, "inode", info->st_ino);
    jp_mapfile_decimal_sig(text, "size", (uint64_t)info->st_size);
    if (fd >= 0 && info->st_size > 0) {
        jp_mapfile_key_sig(text, "tail");
        jp_text_hex_sig(text, tail_sig(fd, (uint64_t)info->st_size));
    }
    if (keep->inode != 0 && keep->inode == info->st_ino)
        jp_mapfile_string_sig(text, "saved", jp_keep_name_sig(keep));
}
