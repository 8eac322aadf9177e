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

#define TURNS 64U   /* tries to open the file, while others remove it */
#define REMOVALS 3U /* and to remove it */
#define HEAD 128U   /* bytes of a line that tell whose it is */
#define PIECE 512U  /* bytes read at once */
/* A larger file is not looked through, and stays: 1.2 s (what a reader takes),
 * and 9 ms in the handler. */
#define SIZE_MOST (64ULL << 20)
#define HANDLER_SIZE_MOST (512ULL << 10)

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

/* How a line begins: `TIME jprof-WORD root=PID space=INODE since=TICKS pid=PID
 * ppid=PID`, the last three where they are known.  What is missing is 0. */
struct head {
    uint64_t root, space, since, pid, ppid;
    int has_space;
};

static uint64_t skip_key_sig(const char **at, const char *end, const char *key)
{
    return skip_sig(at, end, key) ? jp_text_number_sig(at, end, 10) : 0;
}

/* Takes a line's beginning apart.  Returns 0 when it is none of a tree's. */
static int head_sig(const char *at, const char *end, struct head *head)
{
    const char *const start = at;
    jp_text_number_sig(&at, end, 10);
    if (at == start || !skip_sig(&at, end, " jprof-"))
        return 0;
    while (at < end && *at != ' ')
        at++;
    if (!skip_sig(&at, end, " root="))
        return 0;
    head->root = jp_text_number_sig(&at, end, 10);
    head->has_space = skip_sig(&at, end, " space=");
    head->space = head->has_space ? jp_text_number_sig(&at, end, 10) : 0;
    head->since = skip_key_sig(&at, end, " since=");
    head->pid = skip_key_sig(&at, end, " pid=");
    head->ppid = skip_key_sig(&at, end, " ppid=");
    return 1;
}

static int is_ours_sig(const struct head *head)
{
    return head->root == jp_process.root &&
           head->space == jp_process.root_space &&
           head->since == jp_process.root_ticks;
}

static int is_gone_sig(uint64_t pid)
{
    return pid == 0 || pid > INT32_MAX ||
           jp_sys_sig(SYS_kill, (long)pid, 0, 0, 0, 0) == -ESRCH;
}

/* Whether a line may be of a tree of which a process is left: the first one,
 * the one that the line is about, or its parent.  `here`: this process's pid
 * namespace, 0 if unknown; of other ones nothing is known.  (The launcher's
 * line has no namespace; it is the last one of a run that has ended.) */
static int lives_sig(const struct head *head, uint64_t here)
{
    if (!head->has_space)
        return 0;
    return is_ours_sig(head) || here == 0 || head->space != here ||
           !is_gone_sig(head->root) || !is_gone_sig(head->pid) ||
           !is_gone_sig(head->ppid);
}

/* Whether one of the lines that begin behind `from` and before `size` may be of
 * a tree of which a process is left.  `here`: as lives_sig's. */
static int has_living_sig(int fd, uint64_t from, uint64_t size, uint64_t here)
{
    char piece[PIECE];
    int begins = from == 0; /* a line begins where the next piece is read */
    struct head head;
    for (uint64_t at = from, used; at < size; at += used) {
        const long got = jp_sys_pread_sig(fd, piece, sizeof(piece), at);
        if (got <= 0)
            return 1;
        const char *next = piece, *const end = piece + got;
        do {
            /* The head of a line is read as a whole. */
            if (begins && next != piece && end - next < HEAD)
                break;
            if (begins && head_sig(next, end, &head) && lives_sig(&head, here))
                return 1;
            for (begins = 0; next < end && !begins; next++)
                begins = *next == '\n';
        } while (next < end);
        used = (uint64_t)(next - piece);
    }
    return 0;
}

/* Whether all of the file is of trees that are gone.  Who uses the file now has
 * written its end. */
static int is_old_sig(int fd, uint64_t size)
{
    const uint64_t here = jp_logowner_space_sig();
    const uint64_t last = size > PIECE ? size - PIECE : 0;
    return !has_living_sig(fd, last, size, here) &&
           !has_living_sig(fd, 0, last, here);
}

enum { OURS, OLD, FOREIGN };

/* A file in which lines of living trees were found, so that it stays: a process
 * of this tree need not look through it again. */
static _Atomic uint64_t shared_device, shared_inode;

/* Whose file is open at fd: this tree's, or one that it shares with others
 * (OURS); that of trees which are gone (OLD); or no such file (FOREIGN).  A
 * file of more than `most` bytes is not looked through.  Fills *info. */
static int whose_sig(int fd, struct stat *info, uint64_t most)
{
    char start[HEAD];
    struct head head;
    if (jp_may_write_sig(fd, info) != 0)
        return FOREIGN;
    const long got = jp_sys_pread_sig(fd, start, sizeof(start), 0);
    if (got <= 0)
        return got == 0 ? OURS : FOREIGN;
    if (!head_sig(start, start + got, &head))
        return FOREIGN;
    if (is_ours_sig(&head) || jp_config.append ||
        (atomic_load(&shared_inode) == info->st_ino &&
         atomic_load(&shared_device) == info->st_dev))
        return OURS;
    if ((uint64_t)info->st_size <= most &&
        is_old_sig(fd, (uint64_t)info->st_size))
        return OLD;
    atomic_store(&shared_device, info->st_dev);
    atomic_store(&shared_inode, info->st_ino);
    return OURS;
}

/* Removes the file of trees that are gone, which is open at fd, if it is still
 * the one at the path.  A process that removes such a file holds its lock, and
 * none that appends to it does, whose line the size would tell of. */
static void remove_sig(int fd, const struct stat *ours)
{
    struct stat now;
    if (jp_sys_sig(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0) != 0)
        return;
    if (jp_sys_fstat_sig(fd, &now) == 0 && now.st_size == ours->st_size)
        jp_file_unlink_sig(name.map, ours->st_dev, ours->st_ino);
    /* (A child forked just now has the lock as well.) */
    jp_sys_sig(SYS_flock, fd, LOCK_UN, 0, 0, 0);
}

/* Opens the file to append to it, locked against its removal, unless a file
 * system or filter knows no locks.  create: O_CREAT or 0.  most: whose_sig's.
 * Where somebody else holds on to a lock, lines are written without one, and to
 * a file that should go. */
static int open_sig(int create, uint64_t most)
{
    struct stat info;
    unsigned removals = 0;
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        const int fd = jp_sys_open_sig(
            name.map, O_RDWR | O_APPEND | create | O_NOFOLLOW, 0600);
        if (fd < 0)
            return fd;
        const int busy = jp_sys_sig(SYS_flock, fd, LOCK_SH | LOCK_NB, 0, 0,
                                    0) == -EWOULDBLOCK &&
                         turn < TURNS;
        const int removed =
            busy || (jp_sys_fstat_sig(fd, &info) == 0 && info.st_nlink == 0);
        const int last = turn == TURNS || removals == REMOVALS;
        const int whose = removed ? OLD : whose_sig(fd, &info, last ? 0 : most);
        if (whose == OURS)
            return fd;
        if (whose == OLD && !removed) {
            remove_sig(fd, &info);
            removals++;
        }
        jp_sys_close_sig(fd);
        if (whose == FOREIGN)
            return -EEXIST;
        if (busy)
            jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    return -EEXIST;
}

void jp_tree_line_sig(struct jp_text *text, const char *event, uint32_t pid)
{
    jp_mapfile_line_sig(text, jp_sys_clock_sig(CLOCK_MONOTONIC), event);
    jp_mapfile_decimal_sig(text, "root", jp_process.root);
    jp_mapfile_decimal_sig(text, "space", jp_process.root_space);
    jp_mapfile_decimal_sig(text, "since", jp_process.root_ticks);
    jp_mapfile_decimal_sig(text, "pid", pid);
}

/* Ends the line and appends it.  create, most: as open_sig's. */
static void append_sig(struct jp_text *text, int create, uint64_t most)
{
    struct stat info;
    if (!known)
        return;
    const int fd = open_sig(create, most);
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
    append_sig(text, O_CREAT, SIZE_MOST);
}

void jp_tree_brief_sig(uint64_t before_ns, uint64_t cpu_ns,
                       uint64_t children_ns, int ended)
{
    char line[256];
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
    append_sig(&text, jp_process.is_child ? O_CREAT : 0, SIZE_MOST);
}

void jp_tree_child_sig(uint32_t pid, uint64_t cpu_ns)
{
    char line[192];
    struct jp_text text;
    if (cpu_ns < JP_TREE_CPU_MIN_NS || !jp_tree_wanted_sig())
        return;
    jp_text_init_sig(&text, line, sizeof(line));
    jp_tree_line_sig(&text, JP_TREE_CHILD, pid);
    jp_mapfile_decimal_sig(&text, "ppid", jp_sys_getpid_sig());
    jp_mapfile_decimal_sig(&text, "cpu", cpu_ns);
    jp_tree_append_sig(&text);
}

void jp_tree_shares_sig(uint32_t pid)
{
    char line[192];
    struct jp_text text;
    if (!jp_tree_wanted_sig())
        return;
    jp_text_init_sig(&text, line, sizeof(line));
    jp_tree_line_sig(&text, JP_TREE_EXEC, pid);
    jp_mapfile_decimal_sig(&text, "ppid", jp_sys_getpid_sig());
    jp_mapfile_string_sig(&text, "why", "memory");
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
    append_sig(&text, O_CREAT, HANDLER_SIZE_MOST);
}
