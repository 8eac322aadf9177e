/* SPDX-License-Identifier: MIT
 *
 * Making the log and the map.
 * Runs in: handler, any thread. */
#include "logfile.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>

#include "jp_map.h"
#include "sig/arch/arch.h"
#include "sig/code/maps.h"
#include "sig/code/module.h"
#include "sig/files/command.h"
#include "sig/files/logname.h"
#include "sig/files/logowner.h"
#include "sig/files/mapfile.h"
#include "sig/files/notes.h"
#include "sig/files/tree.h"
#include "sig/files/usage.h"
#include "sig/log/annex.h"
#include "sig/log/log.h"
#include "sig/log/mine.h"
#include "sig/log/reserve.h"
#include "sig/log/share.h"
#include "sig/log/storage_area.h"
#include "sig/log/storage_file.h"
#include "sig/log/storage_ring.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"

#define CREATE_WAIT_NS 20000000L
#define WAITS_MOST 1000U

/* Used by the one thread that makes the log (state CREATING). */
static struct jp_logname name;
static char line[JP_MAP_LINE_MAX];

/* Opens a finished run's log and locks it.  Whoever unlinks or continues a log
 * holds its lock, so only one of several processes does.  Fills *ours.
 * Returns the descriptor, or -EEXIST when the log cannot be taken: it is not
 * this user's, others may write to it, or it is in use. */
static int claim_old_sig(const char *path, struct stat *ours)
{
    struct stat there;
    int fd = jp_sys_open_sig(path, O_RDWR | O_NOFOLLOW, 0);
    if (fd < 0)
        return -EEXIST;
    if (jp_may_write_sig(fd, ours) == 0 &&
        jp_sys_sig(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0) == 0 &&
        jp_sys_stat_sig(path, 0, &there) == 0 &&
        jp_file_is_same_sig(ours, &there) && jp_logowner_finished_sig(fd))
        return fd;
    jp_sys_close_sig(fd);
    return -EEXIST;
}

/* Opens a log for this run: a new file, or with JP_APPEND a finished run's.
 * Returns the descriptor or -errno; -EEXIST: another name must be tried. */
__attribute__((noinline)) static int open_log_sig(const char *path)
{
    struct stat old;
    for (int attempt = 0; attempt < 2; attempt++) {
        int fd =
            jp_sys_open_sig(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd != -EEXIST)
            return fd;
        fd = claim_old_sig(path, &old);
        if (fd < 0 || jp_config.append)
            return fd;
        jp_file_unlink_sig(path, old.st_dev, old.st_ino);
        jp_sys_close_sig(fd);
    }
    return -EEXIST;
}

static void copy_sig(char *to, size_t size, const char *from)
{
    struct jp_text text;
    jp_text_init_sig(&text, to, size);
    jp_text_add_sig(&text, from);
}

static void fill_sig(struct jp_log_header *header)
{
    uint64_t headers = jp_process.program_headers;
    header->byte_order = JP_LOG_BYTE_ORDER;
    header->version = JP_LOG_VERSION;
    header->header_size = JP_LOG_HEADER_SIZE;
    header->machine = JP_ARCH_MACHINE;
    header->address_size = sizeof(uint64_t);
    header->page_size = (uint32_t)jp_process.page_size;
    header->pid = jp_owner->pid;
    jp_logowner_fill_sig(header);
    header->mono_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    header->real_ns = jp_sys_clock_sig(CLOCK_REALTIME);
    header->boot_ns = jp_sys_clock_sig(CLOCK_BOOTTIME);
    header->period_ns = jp_config.period_ns;
    header->clock = jp_process.clock->id;
    header->walker = jp_config.walker;
    header->options = (jp_config.ring_bytes ? JP_LOG_OPTION_CIRCULAR : 0) |
                      (jp_config.append ? JP_LOG_OPTION_APPEND : 0) |
                      (jp_config.realtime ? JP_LOG_OPTION_REALTIME : 0) |
                      (jp_config.rtc_hz ? JP_LOG_OPTION_RTC : 0);
    header->depth = jp_config.depth;
    header->ring_bytes = jp_config.ring_bytes;
    header->build_id_size = (uint8_t)jp_module_build_id_sig(
        headers, jp_process.program_header_count, jp_process.program_bias,
        header->build_id);
    copy_sig(header->map_name, sizeof(header->map_name), name.map_name);
    copy_sig(header->flags, sizeof(header->flags), jp_config.flags);
    long got = jp_sys_readlink_sig("/proc/self/exe", header->exe,
                                   sizeof(header->exe) - 1);
    header->exe[got > 0 ? got : 0] = '\0';
    header->root_pid = jp_process.root;
    header->root_space = jp_process.root_space;
    header->root_ticks = jp_process.root_ticks;
    copy_sig(header->tree_name, sizeof(header->tree_name), jp_tree_name_sig());
    header->cpu_before_ns = jp_process.cpu_before_ns;
}

/* The storage of a run with a log of its own. */
static const struct jp_storage *own_storage_sig(void)
{
    if (jp_config.ring_bytes != 0)
        return jp_log.direct ? &jp_storage_written_ring : &jp_storage_ring;
    return jp_log.direct ? &jp_storage_written : &jp_storage_file;
}

static int make_header_sig(int fd)
{
    struct stat info;
    int error = jp_sys_fstat_sig(fd, &info);
    if (error != 0)
        return error;
    jp_log.device = info.st_dev;
    jp_log.inode = info.st_ino;
    jp_log.user = info.st_uid;
    jp_log.start = jp_log_align_sig((uint64_t)info.st_size);
    jp_log.path = name.log;
    jp_log.pid = jp_owner->pid;
    jp_log.shared = 0;
    error = jp_sys_allocate_sig(fd, jp_log.start, JP_LOG_HEADER_SIZE);
    jp_log.direct = error == -EOPNOTSUPP || error == -ENOSYS;
    if (error != 0 && !jp_log.direct)
        return error;
    jp_log.storage = own_storage_sig();
    jp_log.header =
        jp_log.direct
            ? jp_sys_memory_sig(JP_LOG_HEADER_SIZE, JP_FORK_DROP)
            : jp_sys_map_file_sig(fd, jp_log.start, JP_LOG_HEADER_SIZE);
    if (jp_log.header == NULL)
        return -ENOMEM;
    atomic_store(&jp_log.seq, 0);
    atomic_store(&jp_log.grown,
                 jp_log.direct ? 0 : jp_log.start + JP_LOG_HEADER_SIZE);
    atomic_store(&jp_log.next, jp_log.start + JP_LOG_HEADER_SIZE);
    jp_log.ring_start = jp_log.start + JP_LOG_HEADER_SIZE;
    atomic_store(&jp_log.ring, 0);
    fill_sig(jp_log.header);
    /* In a file that holds earlier runs, this run is now the writer. */
    if (jp_log.start != 0)
        jp_logowner_take_sig(fd, jp_log.header);
    return 0;
}

static void first_line_sig(struct jp_text *text, uint64_t now)
{
    const char *log_name = name.log;
    for (const char *at = name.log; *at != '\0'; at++) {
        if (*at == '/')
            log_name = at + 1;
    }
    jp_mapfile_line_sig(text, now, JP_MAP_BEGIN);
    jp_mapfile_decimal_sig(text, "version", JP_MAP_VERSION);
    jp_mapfile_decimal_sig(text, "pid", jp_owner->pid);
    jp_mapfile_decimal_sig(text, "start", jp_log.header->start_ticks);
    jp_mapfile_string_sig(text, "log", log_name);
    jp_mapfile_decimal_sig(text, "real", jp_log.header->real_ns);
}

static void first_lines_sig(struct jp_text *text, uint64_t now)
{
    jp_command_put_sig(text, now);
    jp_mapfile_line_sig(text, jp_process.first_section_ns, JP_MAP_SECTION);
    jp_mapfile_decimal_sig(text, "n", 0);
    jp_mapfile_decimal_sig(text, "cpu", jp_process.first_section_cpu_ns);
    jp_mapfile_append_sig(text);
    jp_notes_write_sig();
}

static int make_map_sig(void)
{
    struct jp_text text;
    const uint64_t now = jp_log.header->mono_ns;
    jp_text_init_sig(&text, line, sizeof(line));
    first_line_sig(&text, now);
    int error = jp_mapfile_create_sig(name.map, jp_config.append, &text);
    if (error != 0)
        return error;
    first_lines_sig(&text, now);
    jp_maps_scan_sig();
    return 0;
}

/* Removes a log that could not be finished. */
static void undo_sig(void)
{
    if (jp_log.header != NULL)
        jp_sys_unmap_sig(jp_log.header, JP_LOG_HEADER_SIZE);
    jp_log.header = NULL;
    if (jp_log.start == 0)
        jp_file_unlink_sig(name.log, jp_log.device, jp_log.inode);
}

static void finish_header_sig(void)
{
    uint64_t magic;
    memcpy(&magic, JP_LOG_MAGIC, sizeof(magic));
    __atomic_store_n((uint64_t *)(void *)jp_log.header->magic, magic,
                     __ATOMIC_RELEASE);
    jp_counters_use_sig(jp_log.header->counters);
}

static int try_sig(unsigned try)
{
    int error = jp_logname_build_sig(&name, try);
    if (error != 0)
        return error;
    int fd = open_log_sig(name.log);
    if (fd < 0)
        return fd;
    error = make_header_sig(fd);
    jp_sys_close_sig(fd);
    if (error == 0)
        error = make_map_sig();
    if (error != 0) {
        undo_sig();
        return error;
    }
    finish_header_sig();
    jp_log_sync_sig();
    return 0;
}

/* For a process that cannot make a log of its own: begins a run in the area of
 * the log that it shares with its parent (share.h), or has behind it
 * (annex.h).  Returns 0 or -errno. */
static int branch_sig(void)
{
    struct jp_text text;
    uint64_t offset;
    jp_log.storage =
        jp_appended_is_handed_sig() ? &jp_storage_appended : &jp_storage_area;
    const int error = jp_share_is_there_sig() ? 0 : jp_appended_make_sig();
    if (error != 0)
        return error;
    if (jp_share_take_sig(JP_LOG_HEADER_SIZE, 0, &offset) == 0)
        return -ENOSPC;
    jp_log.header =
        (struct jp_log_header *)jp_share_at_sig(offset, JP_LOG_HEADER_SIZE);
    jp_log.path = name.log;
    jp_log.device = jp_log.inode = 0;
    jp_log.start = offset;
    jp_log.pid = jp_owner->pid;
    jp_log.shared = 1;
    jp_log.direct = 0;
    atomic_store(&jp_log.seq, 0);
    jp_config.ring_bytes = 0;
    name.map_name = "";
    fill_sig(jp_log.header);
    jp_log.header->base_run = jp_share_base_sig(&jp_log.header->forked_ns);
    jp_mapfile_share_sig();
    if (jp_log.header->base_run != 0)
        jp_maps_inherit_sig();
    jp_text_init_sig(&text, line, sizeof(line));
    first_lines_sig(&text, jp_log.header->mono_ns);
    if (jp_log.header->base_run == 0)
        jp_maps_scan_sig();
    finish_header_sig();
    return 0;
}

static int create_named_sig(void)
{
    int error = -EEXIST;
    for (unsigned try = 0; try < JP_LOGNAME_TRIES && error == -EEXIST; try++)
        error = try_sig(try);
    return error;
}

static int create_sig(void)
{
    struct jp_sys_wait wait = {0};
    int error = -ENOENT;
    if (jp_appended_is_handed_sig())
        jp_logname_build_sig(&name, 0); /* for what is said of it */
    else
        error = create_named_sig();
    while (jp_sys_awaits_descriptor_sig(error, &wait))
        error = create_named_sig();
    if (error == 0)
        jp_share_drop_sig();
    else if (jp_appended_is_handed_sig() || jp_share_is_inherited_sig())
        error = branch_sig();
    return error;
}

/* Waits, for 20 ms at most, until another thread has made the log, so that the
 * sample at hand gets into it.  That thread waits for nobody and needs less
 * than a millisecond.  Returns the log's state then. */
static uint32_t await_sig(void)
{
    const struct timespec most = {0, CREATE_WAIT_NS};
    jp_sys_sig(SYS_futex, (long)&jp_log.state, FUTEX_WAIT_PRIVATE,
               JP_LOG_CREATING, (long)&most, 0);
    return atomic_load(&jp_log.state);
}

/* Sets the log's state and wakes those who wait for it. */
static void settle_sig(enum jp_log_state state)
{
    atomic_store(&jp_log.state, state);
    jp_sys_sig(SYS_futex, (long)&jp_log.state, FUTEX_WAKE_PRIVATE, INT32_MAX, 0,
               0);
}

int jp_logfile_ensure_sig(void)
{
    static uint32_t waits; /* its user is the one that makes the log */
    uint32_t state = JP_LOG_NONE;
    if (atomic_load(&jp_log.state) == JP_LOG_READY)
        return 0;
    if (!atomic_compare_exchange_strong(&jp_log.state, &state,
                                        JP_LOG_CREATING)) {
        if (state == JP_LOG_CREATING)
            state = await_sig();
        return state == JP_LOG_READY    ? 0
               : state == JP_LOG_FAILED ? -EIO
                                        : -EAGAIN;
    }
    int error = create_sig();
    if (error == 0) {
        settle_sig(JP_LOG_READY);
        jp_usage_note_sig();
        return 0;
    }
    /* The area is locked: the sample waits, and the next one tries. */
    if (error == -EAGAIN && jp_appended_is_handed_sig() &&
        waits++ < WAITS_MOST) {
        settle_sig(JP_LOG_NONE);
        return error;
    }
    jp_tree_nolog_sig(line, sizeof(line), -error);
    settle_sig(JP_LOG_FAILED);
    jp_complain_sig("profiling is off, cannot create ", name.log, -error);
    return error;
}

void jp_logfile_end_sig(void)
{
    if (atomic_load(&jp_log.state) != JP_LOG_READY || jp_share_is_there_sig())
        return;
    const int fd = jp_log_open_sig();
    if (fd < 0)
        return;
    jp_logowner_end_sig(fd);
    jp_sys_close_sig(fd);
}

void jp_logfile_reset_sig(void)
{
    jp_share_forked_sig(atomic_load(&jp_log.state) == JP_LOG_READY,
                        jp_log.start);
    jp_log.shared = 0;
    atomic_store(&jp_log.state, JP_LOG_NONE);
    jp_log.header = NULL;
    jp_reserve_reset_sig();
    jp_counters_use_sig(NULL);
    atomic_store(&jp_log.space_complained, 0);
    atomic_store(&jp_log.cut, 0);
    jp_mapfile_reset_sig();
    jp_maps_reset_sig();
}
