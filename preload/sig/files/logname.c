/* SPDX-License-Identifier: MIT
 *
 * Names of the log and the map.
 * Runs in: handler, any thread. */
#include "logname.h"

#include <errno.h>
#include <string.h>

#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"

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

void jp_logname_guard(void)
{
    static char folder[JP_PATH_MAX], other[JP_PATH_MAX];
    struct jp_text text;
    int named;
    jp_text_init_sig(&text, folder, sizeof(folder));
    /* Where the name leads nowhere, nothing will be written either. */
    if (base_sig(&text, jp_owner->pid, &named) != 0)
        return;
    while (text.length > 0 && folder[text.length - 1] != '/')
        jp_text_trim_sig(&text, text.length - 1);
    jp_text_init_sig(&text, other, sizeof(other));
    other[0] = '\0';
    expand_sig(&text, jp_config.folder, jp_owner->pid);
    jp_sys_guard(folder, other, jp_config.folder_device,
                 jp_config.folder_inode);
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
