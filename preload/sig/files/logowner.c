/* SPDX-License-Identifier: MIT
 *
 * Which process writes to a log.
 * Runs in: handler, any thread. */
#include "logowner.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"

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

/* Reads the boot id.  Returns 0 when it is unknown. */
static int boot_id_sig(uint8_t boot_id[16])
{
    char text[40];
    unsigned count = 0;
    memset(boot_id, 0, 16);
    int fd = jp_sys_open_sig("/proc/sys/kernel/random/boot_id", O_RDONLY, 0);
    if (fd < 0)
        return 0;
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
    return count == 32;
}

/* This process's pid in the namespace of /proc; 0: unknown. */
static uint32_t proc_pid_sig(void)
{
    char link[32];
    long got = jp_sys_readlink_sig("/proc/self", link, sizeof(link));
    const char *at = link;
    return got > 0 ? (uint32_t)jp_text_number_sig(&at, link + got, 10) : 0;
}

/* The inode of one of this process's namespaces (namespaces(7)), 0: unknown. */
static uint32_t inode_sig(const char *path)
{
    struct stat info;
    return jp_sys_stat_sig(path, 1, &info) == 0 ? (uint32_t)info.st_ino : 0;
}

uint64_t jp_logowner_ticks_sig(void)
{
    return start_ticks_sig("/proc/self/stat");
}

uint32_t jp_logowner_space_sig(void)
{
    return inode_sig("/proc/self/ns/pid");
}

static uint32_t time_space_sig(void)
{
    return inode_sig("/proc/self/ns/time");
}

void jp_logowner_fill_sig(struct jp_log_header *header)
{
    header->proc_pid = proc_pid_sig();
    header->start_ticks = jp_logowner_ticks_sig();
    boot_id_sig(header->boot_id);
    header->owner_pid = header->proc_pid;
    header->owner_ticks = header->start_ticks;
    header->owner_space = jp_logowner_space_sig();
    header->owner_time_space = time_space_sig();
    header->owner_inner = jp_owner->pid;
    header->owner_ended = 0;
}

int jp_logowner_gone_sig(uint32_t pid, uint32_t space)
{
    return pid != 0 && space != 0 && space == jp_logowner_space_sig() &&
           jp_sys_sig(SYS_kill, pid, 0, 0, 0, 0) == -ESRCH;
}

/* Whether other machines may use the file system as well: any but those listed,
 * which belong to one machine (linux/magic.h, statfs(2)).  An overlay's upper
 * layer is never on NFS. */
static int is_shared_sig(int fd)
{
    static const uint32_t local[] = {
        0xef53U,     0x58465342U, 0x9123683eU, /* ext2 to ext4, xfs, btrfs */
        0x01021994U, 0x858458f6U, 0xf2f52010U, /* tmpfs, ramfs, f2fs */
        0x2fc12fc1U, 0xca451a4eU, 0x3153464aU, /* zfs, bcachefs, jfs */
        0x52654973U, 0x794c7630U};             /* reiserfs, overlayfs */
    struct statfs info;
    if (jp_sys_sig(SYS_fstatfs, fd, (long)&info, 0, 0, 0) != 0)
        return 1;
    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        if ((uint32_t)info.f_type == local[i])
            return 0;
    }
    return 1;
}

/* The log's writer, from the file's first header. */
struct owner {
    uint8_t boot_id[16];
    uint64_t ticks;
    uint32_t space, time_space, inner, ended;
};

static int field_sig(int fd, uint64_t offset, void *field, size_t size)
{
    return jp_sys_pread_sig(fd, field, size, offset) == (long)size;
}

static int read_sig(int fd, struct owner *owner)
{
    uint8_t magic[8];
    return field_sig(fd, 0, magic, sizeof(magic)) &&
           memcmp(magic, JP_LOG_MAGIC, sizeof(magic)) == 0 &&
           field_sig(fd, offsetof(struct jp_log_header, boot_id),
                     owner->boot_id, sizeof(owner->boot_id)) &&
           field_sig(fd, offsetof(struct jp_log_header, owner_ticks),
                     &owner->ticks, sizeof(owner->ticks)) &&
           field_sig(fd, offsetof(struct jp_log_header, owner_space),
                     &owner->space, 4 * sizeof(uint32_t));
}

/* Whether another process has the owner's pid now, by its start time.  Start
 * times can be compared if /proc has the pids of this process's namespace, and
 * both processes are in the same time namespace. */
static int is_another_sig(const struct owner *owner)
{
    char path[32];
    struct jp_text text;
    if (owner->ticks == 0 || owner->time_space != time_space_sig() ||
        proc_pid_sig() != jp_owner->pid)
        return 0;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, "/proc/");
    jp_text_decimal_sig(&text, owner->inner);
    jp_text_add_sig(&text, "/stat");
    const uint64_t ticks = start_ticks_sig(path);
    return ticks != 0 && ticks != owner->ticks;
}

int jp_logowner_finished_sig(int fd)
{
    static const uint8_t unknown[16];
    struct owner owner;
    uint8_t boot_id[16];
    if (!read_sig(fd, &owner))
        return 0;
    if (owner.ended != 0)
        return 1;
    if (!boot_id_sig(boot_id) ||
        memcmp(owner.boot_id, unknown, sizeof(unknown)) == 0)
        return 0;
    if (memcmp(owner.boot_id, boot_id, sizeof(boot_id)) != 0)
        return !is_shared_sig(fd);
    if (owner.inner == 0 || owner.space == 0 ||
        owner.space != jp_logowner_space_sig())
        return 0;
    return jp_logowner_gone_sig(owner.inner, owner.space) ||
           is_another_sig(&owner);
}

static void write_sig(int fd, const struct jp_log_header *header, size_t from,
                      size_t to)
{
    jp_sys_pwrite_sig(fd, (const uint8_t *)header + from, to - from, from);
}

void jp_logowner_take_sig(int fd, const struct jp_log_header *header)
{
    write_sig(fd, header, offsetof(struct jp_log_header, owner_pid),
              offsetof(struct jp_log_header, cpu_ns));
    write_sig(fd, header, offsetof(struct jp_log_header, owner_space),
              offsetof(struct jp_log_header, root_space));
}

void jp_logowner_end_sig(int fd)
{
    const uint32_t ended = 1;
    jp_sys_pwrite_sig(fd, &ended, sizeof(ended),
                      offsetof(struct jp_log_header, owner_ended));
}
