/* SPDX-License-Identifier: MIT
 *
 * Names of the log and the map.
 * Runs in: handler, any thread. */
#include "logname.h"

#include <errno.h>
#include <string.h>

#include "process.h"
#include "sys.h"
#include "text.h"

/* Expands %p to a pid and %XX to a byte; returns whether %p was there. */
static int expand_sig(struct jp_text *text, const char *name, uint32_t pid)
{
    int has_pid = 0;
    for (const char *at = name; *at != '\0'; at++) {
        if (at[0] != '%') {
            jp_text_char_sig(text, *at);
        } else if (at[1] == 'p') {
            jp_text_decimal_sig(text, pid);
            has_pid = 1;
            at++;
        } else if (at[1] != '\0' && at[2] != '\0') {
            char digits[2] = {(char)(at[1] | 0x20), (char)(at[2] | 0x20)};
            const char *digit = digits;
            uint64_t byte = jp_text_number_sig(&digit, digits + 2, 16);
            int good = digit == digits + 2 && byte != 0;
            jp_text_char_sig(text, good ? (char)byte : '%');
            at += good ? 2 : 0;
        } else {
            jp_text_char_sig(text, '%');
        }
    }
    return has_pid;
}

static void suffix_sig(struct jp_text *text, unsigned try, int named)
{
    int with_pid = !named && (jp_process.is_child || try > 0);
    unsigned number = named || jp_process.is_child ? try + 1 : try;
    if (with_pid) {
        jp_text_char_sig(text, '-');
        jp_text_decimal_sig(text, jp_owner->pid);
    }
    if (number > 1) {
        jp_text_char_sig(text, '-');
        jp_text_decimal_sig(text, number);
    }
}

/* The log's path without suffix; *named: whether the pid is in it.  Returns
 * 0, or -ENOENT when the name is relative to a folder that is not there. */
static int base_sig(struct jp_text *log, uint32_t pid, int *named)
{
    const char *file = jp_config.filename;
    if (file[0] == '\0')
        file = JP_LOG_NAME;
    const int lost = file[0] != '/' && jp_process.folder[0] == '\0';
    if (file[0] != '/' && !lost) {
        jp_text_add_sig(log, jp_process.folder);
        jp_text_char_sig(log, '/');
    }
    *named = expand_sig(log, file, pid);
    return lost ? -ENOENT : 0;
}

/* The name of a file that belongs to the log: `word` for a final log. */
static void beside_sig(struct jp_text *text, const struct jp_text *log,
                       const char *word)
{
    const size_t length = log->length;
    const int ends =
        length >= 3 && memcmp(log->data + length - 3, "log", 3) == 0;
    jp_text_bytes_sig(text, log->data, ends ? length - 3 : length);
    if (!ends)
        jp_text_char_sig(text, '-');
    jp_text_add_sig(text, word);
}

static const char *last_part_sig(const char *path)
{
    const char *part = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '/')
            part = at + 1;
    }
    return part;
}

int jp_logname_tree_sig(struct jp_logname *name, uint32_t root)
{
    struct jp_text log, tree;
    int named;
    jp_text_init_sig(&log, name->log, sizeof(name->log));
    jp_text_init_sig(&tree, name->map, sizeof(name->map));
    const int error = base_sig(&log, root, &named);
    beside_sig(&tree, &log, "tree");
    name->map_name = last_part_sig(name->map);
    if (error != 0)
        return error;
    return log.cut || tree.cut || jp_text_length_sig(name->map_name) > 255
               ? -ENAMETOOLONG
               : 0;
}

int jp_logname_build_sig(struct jp_logname *name, unsigned try)
{
    struct jp_text log, map;
    int named;
    jp_text_init_sig(&log, name->log, sizeof(name->log));
    jp_text_init_sig(&map, name->map, sizeof(name->map));
    const int error = base_sig(&log, jp_owner->pid, &named);
    beside_sig(&map, &log, "map");
    suffix_sig(&log, try, named);
    suffix_sig(&map, try, named);
    name->map_name = last_part_sig(name->map);
    if (error != 0)
        return error;
    return log.cut || map.cut || jp_text_length_sig(name->map_name) > 255
               ? -ENAMETOOLONG
               : 0;
}

/* Field 22 of /proc/PID/stat, counted behind the command's closing bracket
 * (proc(5)); 0 when there is no such process. */
static uint64_t start_ticks_sig(const char *path)
{
    char buffer[320]; /* 22 fields have 303 bytes at most */
    int fd = jp_sys_open_sig(path, O_RDONLY, 0);
    if (fd < 0)
        return 0;
    long got = jp_sys_read_sig(fd, buffer, sizeof(buffer));
    jp_sys_close_sig(fd);
    long at = got - 1;
    while (at > 0 && buffer[at] != ')')
        at--;
    unsigned field = 2;
    for (; at > 0 && at < got && field < 22; at++)
        field += buffer[at] == ' ';
    const char *digits = buffer + (at > 0 ? at : 0);
    return field == 22 ? jp_text_number_sig(&digits, buffer + got, 10) : 0;
}

static void boot_id_sig(uint8_t boot_id[16])
{
    char text[40];
    unsigned count = 0;
    memset(boot_id, 0, 16);
    int fd = jp_sys_open_sig("/proc/sys/kernel/random/boot_id", O_RDONLY, 0);
    if (fd < 0)
        return;
    long got = jp_sys_read_sig(fd, text, sizeof(text));
    jp_sys_close_sig(fd);
    for (long i = 0; i < got && count < 32; i++) {
        const char *digit = text + i;
        uint64_t value = jp_text_number_sig(&digit, text + i + 1, 16);
        if (digit == text + i)
            continue;
        boot_id[count / 2] |= (uint8_t)(value << (count % 2 ? 0 : 4));
        count++;
    }
}

void jp_logname_self_sig(uint32_t *proc_pid, uint64_t *start_ticks,
                         uint8_t boot_id[16])
{
    char link[32];
    long got = jp_sys_readlink_sig("/proc/self", link, sizeof(link));
    const char *at = link;
    *proc_pid = got > 0 ? (uint32_t)jp_text_number_sig(&at, link + got, 10) : 0;
    *start_ticks = start_ticks_sig("/proc/self/stat");
    boot_id_sig(boot_id);
}

static int field_sig(int fd, uint64_t offset, void *field, size_t size)
{
    return jp_sys_pread_sig(fd, field, size, offset) == (long)size;
}

enum jp_logname_owner jp_logname_owner_sig(int fd)
{
    uint8_t magic[8], log_boot[16], boot_id[16];
    struct {
        uint32_t pid, reserved;
        uint64_t ticks;
    } owner;
    char stat_path[48];
    struct jp_text text;
    struct stat info;
    int good = 0;
    if (jp_sys_fstat_sig(fd, &info) == 0 && S_ISREG(info.st_mode))
        good = field_sig(fd, 0, magic, sizeof(magic)) &&
               field_sig(fd, offsetof(struct jp_log_header, boot_id), log_boot,
                         sizeof(log_boot)) &&
               field_sig(fd, offsetof(struct jp_log_header, owner_pid), &owner,
                         sizeof(owner));
    if (!good || memcmp(magic, JP_LOG_MAGIC, sizeof(magic)) != 0)
        return JP_OWNER_FOREIGN;
    boot_id_sig(boot_id);
    if (memcmp(log_boot, boot_id, sizeof(boot_id)) != 0)
        return JP_OWNER_GONE;
    jp_text_init_sig(&text, stat_path, sizeof(stat_path));
    jp_text_add_sig(&text, "/proc/");
    jp_text_decimal_sig(&text, owner.pid);
    jp_text_add_sig(&text, "/stat");
    uint64_t ticks = start_ticks_sig(stat_path);
    return ticks != 0 && ticks == owner.ticks ? JP_OWNER_ALIVE
                                                      : JP_OWNER_GONE;
}
