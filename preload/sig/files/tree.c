/* SPDX-License-Identifier: MIT
 *
 * The file of a process tree.
 * Runs in: handler, any thread, vfork children. */
#include "tree.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "jp_map.h"
#include "logname.h"
#include "logowner.h"
#include "mapfile.h"
#include "sig/log/mine.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

#define TURNS 3U

static struct jp_logname name;
static uint8_t known; /* name.map is the path, name.log its folder's */

void jp_tree_init(void)
{
    struct jp_text folder;
    known = jp_logname_tree_sig(&name, jp_process.root) == 0;
    jp_text_init_sig(&folder, name.log, sizeof(name.log));
    jp_text_bytes_sig(&folder, name.map, (size_t)(name.map_name - name.map));
    if (folder.length == 0)
        jp_text_char_sig(&folder, '.');
}

int jp_tree_reach_sig(void)
{
    if (!known)
        return 0;
    const long result =
        jp_sys_sig(SYS_faccessat, AT_FDCWD, (long)name.log, W_OK | X_OK, 0, 0);
    return result == -EROFS || result == -ENOENT || result == -EACCES
               ? (int)result
               : 0;
}

const char *jp_tree_name_sig(void)
{
    return known ? name.map_name : "";
}

int jp_tree_wanted_sig(void)
{
    return known && atomic_load(&jp_process.sections) != 0;
}

/* Whether the text at *at begins with `word`; moves *at behind it. */
static int skip_sig(const char **at, const char *end, const char *word)
{
    for (; *word != '\0'; word++) {
        if (*at == end || **at != *word)
            return 0;
        ++*at;
    }
    return 1;
}

enum { OURS, OLD, FOREIGN };

/* Whose file is open at fd: this tree's (OURS), that of a tree whose first
 * process is gone (OLD), or no such file (FOREIGN).  Each line tells the tree:
 * `TIME jprof-WORD root=PID space=INODE ...`.  Fills *info. */
static int whose_sig(int fd, struct stat *info)
{
    char start[96];
    if (jp_may_write_sig(fd, info) != 0)
        return FOREIGN;
    const long got = jp_sys_pread_sig(fd, start, sizeof(start), 0);
    if (got <= 0)
        return got == 0 ? OURS : FOREIGN;
    const char *at = start, *end = start + got;
    jp_text_number_sig(&at, end, 10);
    if (at == start || !skip_sig(&at, end, " jprof-"))
        return FOREIGN;
    while (at < end && *at != ' ')
        at++;
    if (!skip_sig(&at, end, " root="))
        return FOREIGN;
    const uint64_t root = jp_text_number_sig(&at, end, 10);
    if (root == jp_process.root || jp_config.append)
        return OURS;
    const uint64_t space =
        skip_sig(&at, end, " space=") ? jp_text_number_sig(&at, end, 10) : 0;
    return jp_logowner_gone_sig((uint32_t)root, (uint32_t)space) ? OLD : OURS;
}

/* Removes a finished tree's file, which is open at fd, if it is still the one
 * at the path.  A process that removes such a file holds its lock. */
static void remove_sig(int fd, const struct stat *ours)
{
    if (jp_sys_sig(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0) == 0)
        jp_mine_unlink_sig(name.map, ours->st_dev, ours->st_ino);
}

/* create: O_CREAT or 0. */
static int open_sig(int create)
{
    struct stat info;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const int fd = jp_sys_open_sig(
            name.map, O_RDWR | O_APPEND | create | O_NOFOLLOW, 0600);
        if (fd < 0)
            return fd;
        const int whose = whose_sig(fd, &info);
        if (whose == OURS)
            return fd;
        if (whose == OLD)
            remove_sig(fd, &info);
        jp_sys_close_sig(fd);
        if (whose == FOREIGN)
            return -EEXIST;
    }
    return -EEXIST;
}

void jp_tree_line_sig(struct jp_text *text, const char *event, uint32_t pid)
{
    jp_mapfile_line_sig(text, jp_sys_clock_sig(CLOCK_MONOTONIC), event);
    jp_mapfile_decimal_sig(text, "root", jp_process.root);
    jp_mapfile_decimal_sig(text, "space", jp_process.root_space);
    jp_mapfile_decimal_sig(text, "pid", pid);
}

/* Ends the line and appends it.  create: as open_sig's. */
static void append_sig(struct jp_text *text, int create)
{
    struct stat info;
    if (!known)
        return;
    const int fd = open_sig(create);
    if (fd < 0)
        return;
    if (text->length + 1 >= text->size)
        jp_text_trim_sig(text, text->size - 2);
    jp_text_char_sig(text, '\n');
    /* RLIMIT_FSIZE would answer a write beyond it with SIGXFSZ. */
    if (jp_sys_fstat_sig(fd, &info) == 0 &&
        (uint64_t)info.st_size + text->length <= jp_sys_file_limit_sig())
        jp_sys_write_sig(fd, text->data, text->length);
    jp_sys_close_sig(fd);
}

void jp_tree_append_sig(struct jp_text *text)
{
    append_sig(text, O_CREAT);
}

void jp_tree_brief_sig(uint64_t before_ns, uint64_t cpu_ns,
                       uint64_t children_ns, int ended)
{
    char line[224];
    struct jp_text text;
    if (!jp_tree_wanted_sig())
        return;
    const long parent = jp_sys_sig(SYS_getppid, 0, 0, 0, 0, 0);
    jp_text_init_sig(&text, line, sizeof(line));
    jp_tree_line_sig(&text, JP_TREE_BRIEF, jp_owner->pid);
    jp_mapfile_decimal_sig(&text, "ppid", parent > 0 ? (uint64_t)parent : 0);
    jp_mapfile_decimal_sig(&text, "before", before_ns);
    jp_mapfile_decimal_sig(&text, "cpu", cpu_ns);
    jp_mapfile_decimal_sig(&text, "children", children_ns);
    jp_mapfile_decimal_sig(&text, "ended", ended != 0);
    append_sig(&text, jp_process.is_child ? O_CREAT : 0);
}

void jp_tree_child_sig(uint32_t pid, uint64_t cpu_ns)
{
    char line[160];
    struct jp_text text;
    if (cpu_ns < JP_TREE_CPU_MIN_NS || !jp_tree_wanted_sig())
        return;
    jp_text_init_sig(&text, line, sizeof(line));
    jp_tree_line_sig(&text, JP_TREE_CHILD, pid);
    jp_mapfile_decimal_sig(&text, "ppid", jp_sys_getpid_sig());
    jp_mapfile_decimal_sig(&text, "cpu", cpu_ns);
    jp_tree_append_sig(&text);
}

void jp_tree_nolog_sig(char *buffer, size_t size, int error)
{
    const char *what = jp_error_text_sig(error);
    struct jp_text text;
    jp_text_init_sig(&text, buffer, size);
    jp_tree_line_sig(&text, JP_TREE_NOLOG, jp_owner->pid);
    jp_mapfile_string_sig(&text, "why", "log");
    if (what != NULL)
        jp_mapfile_string_sig(&text, "text", what);
    jp_tree_append_sig(&text);
}
