/* SPDX-License-Identifier: MIT
 *
 * The perf map, /tmp/perf-PID.map (Linux tools/perf/Documentation,
 * jit-interface.txt).  PID is any of the pids that this process has: that of
 * its own pid namespace or of one further out, whichever the runtime knows.
 * Runs in: handler, any thread. */
#include "jit_map.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "jit_keep.h"
#include "jp_map.h"
#include "sig/files/mapfile.h"
#include "sig/log/log.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"

#define PIDS_MAX 8U    /* though namespaces may be nested 32 deep */
#define SLACK_NS JP_NS /* by which times of files and processes may differ */

struct perfmap {
    uint32_t pid;
    uint8_t inherited; /* it is of the process that forked this one */
    uint8_t told;      /* inherited: it has its line in the map */
    uint64_t inode;    /* the file's inode, size and modification time */
    uint64_t size;     /* in its last line */
    uint64_t changed_ns;
    uint64_t looked_ns; /* the last look, which found the file like that */
    uint64_t fork_size; /* its size before the last fork; 0: unknown */
    struct jp_keep keep;
};

static struct perfmap maps[PIDS_MAX];
static uint32_t count;
static int listed;            /* 1: `maps` has this process's own pids */
static _Atomic uint32_t seen; /* 1: a perf map was found */
static uint64_t last_ns;      /* time of the last line; later lines have later
                                 times */
static char status[4096];
/* The path of the map that is looked at, and its file: not on the handler's
 * stack, which is small. */
static char path[48];
static struct stat file;

static void add_sig(uint32_t pid)
{
    for (uint32_t i = 0; i < count; i++) {
        if (maps[i].pid == pid)
            return;
    }
    if (pid == 0 || count == PIDS_MAX)
        return;
    maps[count++] = (struct perfmap){
        .pid = pid, .keep = {.stem = "perf", .suffix = ".map", .pid = pid}};
}

/* Lists this process's pids: its own, then all in `NSpid:`, see proc(5). */
static void find_pids_sig(void)
{
    static const char word[] = "\nNSpid:";
    if (listed)
        return;
    listed = 1;
    add_sig(jp_owner->pid);
    int fd = jp_sys_open_sig("/proc/self/status", O_RDONLY, 0);
    long got = fd < 0 ? 0 : jp_sys_read_sig(fd, status, sizeof(status));
    if (fd >= 0)
        jp_sys_close_sig(fd);
    for (long i = 0, matched = 0; i < got; i++) {
        matched = status[i] == word[matched] ? matched + 1
                  : status[i] == word[0]     ? 1
                                             : 0;
        if (word[matched] != '\0')
            continue;
        const char *at = status + i + 1, *end = status + got;
        while (at < end && (*at == '\t' || *at == ' ')) {
            at++;
            add_sig((uint32_t)jp_text_number_sig(&at, end, 10));
        }
        return;
    }
}

static void path_sig(const struct perfmap *map, struct jp_text *text)
{
    jp_text_add_sig(text, "/tmp/perf-");
    jp_text_decimal_sig(text, map->pid);
    jp_text_add_sig(text, ".map");
}

/* When this process began, in ns of CLOCK_REALTIME; 0: unknown. */
static uint64_t born_ns_sig(void)
{
    const struct jp_log_header *header = jp_log.header;
    uint64_t age = header->boot_ns - header->start_ticks * JP_LOG_TICK_NS;
    return header->start_ticks == 0 || header->real_ns < age
               ? 0
               : header->real_ns - age;
}

static uint64_t changed_ns_sig(const struct stat *info)
{
    return (uint64_t)info->st_mtim.tv_sec * JP_NS +
           (uint64_t)info->st_mtim.tv_nsec;
}

/* Whether the file at `where` is a perf map of this process.  It must be a
 * regular file of this user, as others may put anything into /tmp, and must
 * have been written to since this process began, as an earlier process with
 * this pid may have left one.  Fills `file`. */
static int stat_sig(const char *where)
{
    return jp_sys_stat_sig(where, 0, &file) == 0 && S_ISREG(file.st_mode) &&
           file.st_uid == (uid_t)jp_sys_sig(SYS_geteuid, 0, 0, 0, 0, 0) &&
           changed_ns_sig(&file) + SLACK_NS >= born_ns_sig();
}

/* Builds the perf map's path in `path` and fills `file`.  Returns where the
 * file is: at that path or, after somebody has removed it from there, beside
 * the log, where the link to it still grows; NULL when there is none. */
static const char *find_sig(const struct perfmap *map)
{
    struct jp_text text;
    jp_text_init_sig(&text, path, sizeof(path));
    path_sig(map, &text);
    if (stat_sig(path))
        return path;
    if (!map->keep.linked || jp_sys_stat_sig(path, 0, &file) == 0)
        return NULL;
    const char *kept = jp_keep_path_sig(&map->keep);
    return stat_sig(kept) && file.st_ino == map->inode ? kept : NULL;
}

static void event_sig(uint64_t now_ns, const char *where,
                      const struct perfmap *map)
{
    static char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    /* Another thread's later sample may have written its line first. */
    if (now_ns < last_ns)
        now_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    last_ns = now_ns;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, now_ns, JP_MAP_PERFMAP);
    jp_mapfile_string_sig(&text, "path", path);
    int fd = jp_sys_open_sig(where, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    jp_keep_put_sig(&text, &file, &map->keep, fd);
    if (fd >= 0)
        jp_sys_close_sig(fd);
    if (map->inherited)
        jp_mapfile_decimal_sig(&text, "inherited", 1);
    else if (map->looked_ns != 0 && map->inode == file.st_ino)
        jp_mapfile_decimal_sig(&text, "since", map->looked_ns);
    jp_mapfile_append_sig(&text);
}

/* Remembers what was found of the file, and that it was like that at now_ns. */
static void know_sig(struct perfmap *map, uint64_t now_ns)
{
    map->inode = file.st_ino;
    map->size = (uint64_t)file.st_size;
    map->changed_ns = changed_ns_sig(&file);
    if (now_ns > map->looked_ns)
        map->looked_ns = now_ns;
    atomic_store(&seen, 1);
}

/* Writes the line about an inherited map, once; with `save` again, after
 * keeping it.  If the file is gone, the process that wrote it, or the launcher,
 * may have kept it beside a log of this folder. */
static void tell_inherited_sig(struct perfmap *map, uint64_t now_ns, int save)
{
    struct jp_text text;
    const char *where = path;
    jp_text_init_sig(&text, path, sizeof(path));
    path_sig(map, &text);
    if (map->told && !save)
        return;
    if (jp_sys_stat_sig(path, 0, &file) != 0 || file.st_ino != map->inode ||
        (uint64_t)file.st_size < map->size) {
        if (map->told)
            return;
        file = (struct stat){.st_ino = map->inode};
        where = "";
    } else if (jp_keep_link_sig(&map->keep, path, &file) != 0 && save) {
        int fd = jp_sys_open_sig(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        if (fd >= 0) {
            jp_keep_copy_sig(&map->keep, fd, file.st_ino, map->size);
            jp_sys_close_sig(fd);
        }
    }
    file.st_size = (off_t)map->size;
    event_sig(now_ns, where, map);
    map->told = 1;
    atomic_store(&seen, 1);
}

static void look_sig(struct perfmap *map, uint64_t now_ns)
{
    if (map->inherited) {
        tell_inherited_sig(map, now_ns, 0);
        return;
    }
    const char *where = find_sig(map);
    if (where == NULL)
        return;
    if (file.st_ino != map->inode || (uint64_t)file.st_size != map->size ||
        changed_ns_sig(&file) != map->changed_ns) {
        /* Links it at once, as it may be replaced or removed. */
        if (where == path)
            jp_keep_link_sig(&map->keep, path, &file);
        event_sig(now_ns, where, map);
    }
    know_sig(map, now_ns);
}

void jp_jitmap_look_sig(uint64_t now_ns)
{
    find_pids_sig();
    for (uint32_t i = 0; i < count; i++)
        look_sig(&maps[i], now_ns);
}

static void save_sig(struct perfmap *map, int whole)
{
    const uint64_t now_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    if (map->inherited) {
        if (!map->told || !map->keep.linked)
            tell_inherited_sig(map, now_ns, whole);
        return;
    }
    const char *where = find_sig(map);
    if (where == NULL)
        return;
    if (where == path && jp_keep_link_sig(&map->keep, path, &file) != 0) {
        int fd = jp_sys_open_sig(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        if (fd >= 0) {
            jp_keep_copy_sig(&map->keep, fd, file.st_ino,
                             whole ? UINT64_MAX : JP_SAVE_MAX);
            jp_sys_close_sig(fd);
        }
    }
    if (whole)
        jp_keep_replace_link_sig(&map->keep);
    event_sig(now_ns, where, map);
    know_sig(map, now_ns);
}

void jp_jitmap_save_sig(int whole)
{
    find_pids_sig();
    for (uint32_t i = 0; i < count; i++)
        save_sig(&maps[i], whole);
}

int jp_jitmap_seen_sig(void)
{
    return atomic_load(&seen) != 0;
}

void jp_jitmap_forking_sig(void)
{
    char own_path[sizeof(path)];
    struct stat info;
    struct jp_text text;
    for (uint32_t i = 0; i < count; i++) {
        struct perfmap *map = &maps[i];
        if (map->inode == 0 || map->inherited)
            continue;
        jp_text_init_sig(&text, own_path, sizeof(own_path));
        path_sig(map, &text);
        map->fork_size = jp_sys_stat_sig(own_path, 0, &info) == 0 &&
                                 info.st_ino == map->inode
                             ? (uint64_t)info.st_size
                             : 0;
    }
}

/* Makes a map one that is inherited: what its process had written until it
 * forked describes the child's code.  Returns 0 when there is nothing of it. */
static int inherit_sig(struct perfmap *map)
{
    map->told = 0;
    map->keep.number = 0;
    map->keep.inode = 0;
    map->keep.linked = 0;
    if (map->inherited)
        return 1;
    map->inherited = 1;
    map->size = map->fork_size;
    return map->inode != 0 && map->size != 0;
}

void jp_jitmap_reset_sig(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (inherit_sig(&maps[i]))
            maps[kept++] = maps[i];
    }
    count = kept < PIDS_MAX - 2 ? kept : PIDS_MAX - 2;
    listed = 0;
    last_ns = 0;
    atomic_store(&seen, 0);
}
