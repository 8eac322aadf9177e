/* SPDX-License-Identifier: MIT
 *
 * The perf map, /tmp/perf-PID.map (Linux tools/perf/Documentation,
 * jit-interface.txt).
 * Runs in: handler, any thread. */
#include "jit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "jp_limits.h"
#include "jp_map.h"
#include "kit.h"
#include "log.h"
#include "mapfile.h"
#include "maps.h"
#include "process.h"
#include "sys.h"
#include "text.h"

#define INTERVAL_NS 100000000ULL

static _Atomic uint64_t next_check_ns;
static _Atomic uint64_t seen_inode, seen_size;

/* Of the one who saves (control.c sees to it that there is one). */
static char saved_path[JP_PATH_MAX];
static uint64_t saved_inode;

static void path_sig(struct jp_text *text)
{
    jp_text_add_sig(text, "/tmp/perf-");
    jp_text_decimal_sig(text, jp_owner->pid);
    jp_text_add_sig(text, ".map");
}

/* A perf map of ours: a plain file that this user owns.  Others may put
 * anything into /tmp. */
static int stat_sig(const char *path, struct stat *info)
{
    return jp_sys_stat_sig(path, 0, info) == 0 && S_ISREG(info->st_mode) &&
           info->st_uid == (uid_t)jp_sys_sig(SYS_geteuid, 0, 0, 0, 0, 0);
}

static void event_sig(const char *path, const struct stat *info,
                      const char *saved)
{
    char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                        JP_MAP_PERFMAP);
    jp_mapfile_string_sig(&text, "path", path);
    jp_mapfile_key_sig(&text, "dev");
    jp_text_decimal_sig(&text, (info->st_dev >> 8) & 0xfff);
    jp_text_char_sig(&text, ':');
    jp_text_decimal_sig(&text,
                        (info->st_dev & 0xff) | (info->st_dev >> 12 & 0xfff00));
    jp_mapfile_decimal_sig(&text, "inode", info->st_ino);
    jp_mapfile_decimal_sig(&text, "size", (uint64_t)info->st_size);
    if (saved != NULL)
        jp_mapfile_string_sig(&text, "saved", saved);
    jp_mapfile_append_sig(&text);
}

static int has_jit_sig(const struct jp_kit *kit)
{
    for (uint32_t i = 0; i < kit->depth; i++) {
        if (jp_maps_anonymous_sig(kit->frames[i]))
            return 1;
    }
    return 0;
}

void jp_jit_check_sig(const struct jp_kit *kit, uint64_t now_ns)
{
    char path[48];
    struct jp_text text;
    struct stat info;
    uint64_t next = atomic_load(&next_check_ns);
    if (now_ns < next || !has_jit_sig(kit) ||
        !atomic_compare_exchange_strong(&next_check_ns, &next,
                                        now_ns + INTERVAL_NS))
        return;
    jp_text_init_sig(&text, path, sizeof(path));
    path_sig(&text);
    if (!stat_sig(path, &info) ||
        (info.st_ino == atomic_load(&seen_inode) &&
         (uint64_t)info.st_size == atomic_load(&seen_size)))
        return;
    atomic_store(&seen_inode, info.st_ino);
    atomic_store(&seen_size, (uint64_t)info.st_size);
    event_sig(path, &info, NULL);
}

static int copy_sig(const char *from, const char *to, uint64_t limit)
{
    int in = jp_sys_open_sig(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (in < 0)
        return in;
    int out = jp_sys_open_sig(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                              0600);
    long done = out < 0 ? out : 1;
    uint64_t left = limit, ceiling = jp_sys_file_limit_sig();
    left = left < ceiling ? left : ceiling;
    while (done > 0 && left > 0) {
        uint64_t piece = left < JP_SAVE_MAX ? left : JP_SAVE_MAX;
        done = jp_sys_sig(SYS_sendfile, out, in, 0, (long)piece, 0);
        left -= done > 0 ? (uint64_t)done : 0;
    }
    if (out >= 0)
        jp_sys_close_sig(out);
    jp_sys_close_sig(in);
    return done < 0 ? (int)done : 0;
}

void jp_jit_save_sig(int whole)
{
    char path[48];
    struct jp_text text;
    struct stat info;
    if (!jp_mapfile_ready_sig())
        return;
    jp_text_init_sig(&text, path, sizeof(path));
    path_sig(&text);
    if (!stat_sig(path, &info))
        return;
    jp_text_init_sig(&text, saved_path, sizeof(saved_path));
    jp_text_add_sig(&text, jp_log.path);
    size_t name = text.length;
    while (name > 0 && saved_path[name - 1] != '/')
        name--;
    /* The copy is called LOG.perf-PID.map. */
    jp_text_char_sig(&text, '.');
    jp_text_add_sig(&text, path + sizeof("/tmp/") - 1);
    int error = text.cut ? -ENAMETOOLONG : 0;
    if (error == 0 && saved_inode != info.st_ino) {
        jp_sys_unlink_sig(saved_path);
        error = jp_sys_link_sig(path, saved_path);
        saved_inode = error == 0 ? info.st_ino : 0;
        if (error != 0)
            error = copy_sig(path, saved_path,
                             whole ? UINT64_MAX : JP_SAVE_MAX);
    }
    event_sig(path, &info, error == 0 ? saved_path + name : NULL);
}

void jp_jit_reset_sig(void)
{
    atomic_store(&next_check_ns, 0);
    atomic_store(&seen_inode, 0);
    atomic_store(&seen_size, 0);
    saved_inode = 0;
}
