/* SPDX-License-Identifier: MIT
 *
 * The map file and its lines.
 * Runs in: handler, any thread. */
#include "mapfile.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "jp_map.h"
#include "sig/log/mine.h"
#include "sig/log/share.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

static const char *map_path;
static dev_t map_device;
static ino_t map_inode;
static uid_t map_user; /* checked too, as another file may get the inode */
static _Atomic int ready;

/* Whether the file at fd begins like a map: digits, blank, "jprof-map ". */
static int is_map_sig(int fd)
{
    char start[64];
    long got = jp_sys_pread_sig(fd, start, sizeof(start) - 1, 0);
    const char *at = start, *word = " " JP_MAP_BEGIN " ";
    if (got <= 0)
        return got == 0;
    start[got] = '\0';
    jp_text_number_sig(&at, start + got, 10);
    if (at == start)
        return 0;
    while (*word != '\0' && *at == *word) {
        at++;
        word++;
    }
    return *word == '\0';
}

/* Opens the file at the path if it is a map that may be written to; -EEXIST
 * otherwise.  Fills *info. */
static int open_old_sig(const char *path, struct stat *info)
{
    int fd = jp_sys_open_sig(path, O_RDWR | O_APPEND | O_NOFOLLOW, 0);
    if (fd < 0)
        return -EEXIST;
    if (jp_may_write_sig(fd, info) != 0 || !is_map_sig(fd)) {
        jp_sys_close_sig(fd);
        return -EEXIST;
    }
    return fd;
}

int jp_mapfile_ready_sig(void)
{
    return atomic_load(&ready);
}

void jp_mapfile_reset_sig(void)
{
    atomic_store(&ready, 0);
}

int jp_mapfile_is_sig(const struct stat *info)
{
    return atomic_load(&ready) && map_path != NULL &&
           info->st_dev == map_device && info->st_ino == map_inode &&
           jp_file_owner_is_same_sig(info->st_uid, map_user);
}

int jp_mapfile_open_sig(void)
{
    struct stat info;
    if (!atomic_load(&ready) || map_path == NULL)
        return -ENOENT;
    int fd = jp_sys_open_sig(map_path, O_WRONLY | O_APPEND | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    if (jp_sys_fstat_sig(fd, &info) == 0 && jp_mapfile_is_sig(&info))
        return fd;
    jp_sys_close_sig(fd);
    return -ESTALE;
}

void jp_mapfile_line_sig(struct jp_text *text, uint64_t time_ns,
                         const char *event)
{
    jp_text_trim_sig(text, 0);
    text->cut = 0;
    jp_text_decimal_sig(text, time_ns);
    jp_text_char_sig(text, ' ');
    jp_text_add_sig(text, event);
}

void jp_mapfile_key_sig(struct jp_text *text, const char *key)
{
    jp_text_char_sig(text, ' ');
    jp_text_add_sig(text, key);
    jp_text_char_sig(text, '=');
}

void jp_mapfile_string_sig(struct jp_text *text, const char *key,
                           const char *value)
{
    jp_mapfile_key_sig(text, key);
    jp_text_value_sig(text, value, jp_text_length_sig(value));
}

void jp_mapfile_decimal_sig(struct jp_text *text, const char *key,
                            uint64_t value)
{
    jp_mapfile_key_sig(text, key);
    jp_text_decimal_sig(text, value);
}

void jp_mapfile_hex_sig(struct jp_text *text, const char *key, uint64_t value)
{
    jp_mapfile_key_sig(text, key);
    jp_text_hex_sig(text, value);
}

/* Whether the file may grow by so many bytes: a write beyond RLIMIT_FSIZE would
 * raise SIGXFSZ. */
static int fits_sig(int fd, size_t length)
{
    struct stat info;
    uint64_t limit = jp_sys_file_limit_sig();
    return jp_sys_fstat_sig(fd, &info) == 0 &&
           (uint64_t)info.st_size + length <= limit;
}

void jp_mapfile_put_sig(int fd, struct jp_text *text)
{
    if (text->length + 1 >= text->size)
        jp_text_trim_sig(text, text->size - 2);
    jp_text_char_sig(text, '\n');
    if ((fd < 0 || !fits_sig(fd, text->length) ||
         jp_sys_write_sig(fd, text->data, text->length) != 0) &&
        jp_share_text_sig(text->data, text->length - 1) != 0)
        jp_count_sig(JP_COUNT_MAP_LOST, 1);
}

void jp_mapfile_share_sig(void)
{
    map_path = NULL;
    atomic_store(&ready, 1);
}

int jp_mapfile_create_sig(const char *path, int append, struct jp_text *first)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW;
    struct stat info;
    int fd = jp_sys_open_sig(path, flags, 0600);
    if (fd == -EEXIST) {
        fd = open_old_sig(path, &info);
        if (fd >= 0 && !append) {
            jp_sys_close_sig(fd);
            jp_file_unlink_sig(path, info.st_dev, info.st_ino);
            fd = jp_sys_open_sig(path, flags, 0600);
        }
    }
    if (fd < 0)
        return fd;
    int result = jp_sys_fstat_sig(fd, &info);
    if (result == 0)
        jp_mapfile_put_sig(fd, first);
    jp_sys_close_sig(fd);
    if (result != 0)
        return result;
    map_path = path;
    map_device = info.st_dev;
    map_inode = info.st_ino;
    map_user = info.st_uid;
    atomic_store(&ready, 1);
    return 0;
}

void jp_mapfile_append_sig(struct jp_text *text)
{
    int fd = jp_mapfile_open_sig();
    jp_mapfile_put_sig(fd, text);
    if (fd >= 0)
        jp_sys_close_sig(fd);
}

void jp_mapfile_event_sig(const char *event, int64_t number, int with_cpu)
{
    char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    if (!jp_mapfile_ready_sig())
        return;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC), event);
    if (number >= 0)
        jp_mapfile_decimal_sig(&text, "n", (uint64_t)number);
    if (with_cpu)
        jp_mapfile_decimal_sig(&text, "cpu",
                               jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID));
    jp_mapfile_append_sig(&text);
}
