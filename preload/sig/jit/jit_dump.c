/* SPDX-License-Identifier: MIT
 *
 * Finding, recording and keeping jitdumps.
 * Runs in: handler, any thread. */
#include "jit_dump.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "jit_keep.h"
#include "jp_map.h"
#include "sig/code/procmaps.h"
#include "sig/files/mapfile.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/config.h"
#include "sig/state/process.h"

#define DUMPS_MAX 32U
#define HEADER_SIZE 40U   /* of a jitdump, version 1 */
#define MAGIC 0x4a695444U /* "JiTD", in the writer's byte order */
#define MAGIC_SWAPPED 0x4454694aU
#define HOLD_SIZE (1UL << 20) /* bytes of jprof's own mapping, at first */

static const char deleted_suffix[] = " (deleted)";

enum state {
    FREE,
    MAPPED, /* a mapping of a file that may be a dump */
    DUMP    /* a dump that has its line in the map */
};

struct dump {
    _Atomic uint32_t state;
    uint8_t deleted;     /* its file has been removed */
    uint8_t inherited;   /* it is of the process that forked this one */
    uint64_t start, end; /* the program's mapping, by /proc/self/maps, */
    uint64_t inode;      /* and its file */
    uint32_t major, minor;
    struct stat info; /* of the file, by stat; st_ino 0: never asked */
    struct jp_keep keep;
    void *held; /* jprof's own mapping of the file, or NULL */
    uint64_t held_size;
    size_t length; /* of path */
    char path[JP_PATH_MAX];
};

static struct dump dumps[DUMPS_MAX];
static _Atomic int some_seen;
/* How many of them to go through: 0 until there is one, as each has a page of
 * memory, which would be made for it, and in each forked child anew. */
static _Atomic uint32_t dumps_used;
static char line[JP_MAP_LINE_MAX];
static char entries[2048];

/* struct linux_dirent64, getdents64(2). */
struct entry {
    uint64_t inode, offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static int is_magic_sig(const uint8_t *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof(number));
    return number == MAGIC || number == MAGIC_SWAPPED;
}

void jp_jitdump_mapped_sig(const struct jp_vma *vma)
{
    const size_t suffix = sizeof(deleted_suffix) - 1;
    uint8_t bytes[4];
    struct dump *free = NULL;
    /* An empty file's page cannot be read yet. */
    if (vma->offset != 0 || vma->path_length >= JP_PATH_MAX ||
        (jp_self_read_sig(vma->start, bytes, 4) == 4 && !is_magic_sig(bytes)))
        return;
    for (unsigned i = DUMPS_MAX; i-- > 0;) {
        struct dump *dump = &dumps[i];
        if (atomic_load(&dump->state) == FREE)
            free = dump;
        else if (dump->inode == vma->inode && dump->major == vma->major &&
                 dump->minor == vma->minor)
            return;
    }
    if (free == NULL) {
        jp_count_sig(JP_COUNT_MAP_LOST, 1);
        return;
    }
    free->start = vma->start;
    free->end = vma->end;
    free->inode = vma->inode;
    free->major = vma->major;
    free->minor = vma->minor;
    free->length = vma->path_length;
    memcpy(free->path, vma->path, vma->path_length);
    free->deleted =
        free->length > suffix &&
        memcmp(free->path + free->length - suffix, deleted_suffix, suffix) == 0;
    if (free->deleted)
        free->length -= suffix;
    free->path[free->length] = '\0';
    memset(&free->info, 0, sizeof(free->info));
    free->keep = (struct jp_keep){
        .stem = "jit", .suffix = ".dump", .pid = jp_owner->pid};
    free->held = NULL;
    free->inherited = 0;
    atomic_store(&free->state, MAPPED);
    atomic_store(&dumps_used, DUMPS_MAX);
}

/* Whether the file at fd is the mapped one: by its inode or, as some file
 * systems show other inodes in /proc/self/maps, by its first bytes. */
static int is_mapped_sig(const struct dump *dump, int fd,
                         const struct stat *info)
{
    uint8_t mapped[HEADER_SIZE], there[HEADER_SIZE];
    if (!S_ISREG(info->st_mode))
        return 0;
    if (info->st_ino == dump->inode)
        return 1;
    return jp_self_read_sig(dump->start, mapped, HEADER_SIZE) == HEADER_SIZE &&
           is_magic_sig(mapped) &&
           jp_sys_pread_sig(fd, there, HEADER_SIZE, 0) == HEADER_SIZE &&
           memcmp(mapped, there, HEADER_SIZE) == 0;
}

/* Opens the file at `path` if it is the dump.  follow: whether a symbolic link
 * there is followed, as only those in /proc are.  Returns the descriptor or
 * -errno. */
static int open_sig(struct dump *dump, const char *path, int follow)
{
    struct stat info;
    int fd = jp_sys_open_sig(
        path, O_RDONLY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW), 0);
    if (fd < 0)
        return fd;
    if (jp_sys_fstat_sig(fd, &info) != 0 ||
        (dump->info.st_ino != 0 ? info.st_ino != dump->info.st_ino ||
                                      info.st_dev != dump->info.st_dev
                                : !is_mapped_sig(dump, fd, &info))) {
        jp_sys_close_sig(fd);
        return -ESTALE;
    }
    dump->info = info;
    dump->deleted |= info.st_nlink == 0;
    return fd;
}

/* Opens the dump by the program's descriptor whose number is in `name`, if that
 * is the dump.  Returns a descriptor or -errno. */
static int open_entry_sig(struct dump *dump, const char *name)
{
    char path[40];
    struct stat info;
    struct jp_text text;
    const char *at = name;
    int number =
        (int)jp_text_number_sig(&at, name + jp_text_length_sig(name), 10);
    if (at == name || jp_sys_fstat_sig(number, &info) != 0 ||
        !S_ISREG(info.st_mode) || info.st_ino != dump->inode)
        return -ENOENT;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, "/proc/self/fd/");
    jp_text_add_sig(&text, name);
    return open_sig(dump, path, 1);
}

static int open_descriptor_sig(struct dump *dump)
{
    int found = -ENOENT;
    int fd = jp_sys_open_sig("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    while (found < 0) {
        long got = jp_sys_sig(SYS_getdents64, fd, (long)entries,
                              sizeof(entries), 0, 0);
        if (got <= 0)
            break;
        for (long at = 0; at < got && found < 0;) {
            const struct entry *entry = (const struct entry *)(entries + at);
            found = open_entry_sig(dump, entry->name);
            at += entry->length;
        }
    }
    jp_sys_close_sig(fd);
    return found;
}

/* Opens the dump by its mapping, for which the kernel wants
 * CAP_CHECKPOINT_RESTORE. */
static int open_mapping_sig(struct dump *dump)
{
    char path[64];
    struct jp_text text;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, "/proc/self/map_files/");
    jp_text_hex_sig(&text, dump->start);
    jp_text_char_sig(&text, '-');
    jp_text_hex_sig(&text, dump->end);
    return open_sig(dump, path, 1);
}

/* Opens the dump for reading: by its path, by a descriptor of the program, or
 * by its mapping.  Returns the descriptor or -errno. */
static int find_sig(struct dump *dump)
{
    int fd = -ENOENT;
    if (!dump->deleted)
        fd = open_sig(dump, dump->path, 0);
    if (fd >= 0)
        return fd;
    fd = open_descriptor_sig(dump);
    if (fd < 0)
        fd = open_mapping_sig(dump);
    return fd;
}

/* Makes sure that a dump can be kept although it is removed: by a link beside
 * the log, else by a mapping of jprof's own. */
static void hold_sig(struct dump *dump, int fd)
{
    if (!dump->deleted &&
        jp_keep_link_sig(&dump->keep, dump->path, &dump->info) == 0)
        return;
    if (dump->held != NULL)
        return;
    dump->held = jp_sys_map_read_sig(fd, HOLD_SIZE);
    dump->held_size = HOLD_SIZE;
}

/* Writes the dump's line into the map. */
static void event_sig(struct dump *dump, int fd)
{
    struct jp_text text;
    jp_text_init_sig(&text, line, sizeof(line));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                        JP_MAP_JITDUMP);
    jp_keep_put_sig(&text, &dump->info, &dump->keep, fd);
    if (dump->deleted)
        jp_mapfile_decimal_sig(&text, "deleted", 1);
    if (dump->inherited)
        jp_mapfile_decimal_sig(&text, "inherited", 1);
    jp_mapfile_string_sig(&text, "path", dump->path);
    jp_mapfile_append_sig(&text);
}

/* Fills what /proc/self/maps tells of a dump that cannot be opened. */
static void from_maps_sig(struct dump *dump)
{
    dump->info.st_dev = (dev_t)(dump->major & 0xfff) << 8 |
                        (dump->minor & 0xff) |
                        (dev_t)(dump->minor & 0xfff00) << 12;
    dump->info.st_ino = dump->inode;
}

/* Records a dump of the process that forked this one, by its path: the runtime
 * may have unmapped it in this process. */
static void record_inherited_sig(struct dump *dump)
{
    int fd = open_sig(dump, dump->path, 0);
    if (fd < 0) {
        atomic_store(&dump->state, FREE);
        return;
    }
    hold_sig(dump, fd);
    event_sig(dump, fd);
    atomic_store(&dump->state, DUMP);
    atomic_store(&some_seen, 1);
    jp_sys_close_sig(fd);
}

static void record_sig(struct dump *dump)
{
    uint8_t bytes[4];
    if (dump->inherited) {
        record_inherited_sig(dump);
        return;
    }
    int readable = jp_self_read_sig(dump->start, bytes, 4) == 4;
    if (readable && !is_magic_sig(bytes)) {
        atomic_store(&dump->state, FREE);
        return;
    }
    int fd = find_sig(dump);
    if (!readable && (fd < 0 || jp_sys_pread_sig(fd, bytes, 4, 0) != 4 ||
                      !is_magic_sig(bytes))) {
        /* The file is still empty: the next look will tell what it is. */
        memset(&dump->info, 0, sizeof(dump->info));
    } else {
        if (fd >= 0)
            hold_sig(dump, fd);
        else
            from_maps_sig(dump);
        event_sig(dump, fd);
        atomic_store(&dump->state, DUMP);
        atomic_store(&some_seen, 1);
    }
    if (fd >= 0)
        jp_sys_close_sig(fd);
}

int jp_jitdump_seen_sig(void)
{
    return atomic_load_explicit(&some_seen, memory_order_relaxed);
}

int jp_jitdump_is_open_sig(int fd)
{
    uint8_t bytes[4];
    return jp_sys_pread_sig(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
           is_magic_sig(bytes);
}

int jp_jitdump_pending_sig(void)
{
    for (uint32_t i = 0; i < atomic_load(&dumps_used); i++) {
        if (atomic_load(&dumps[i].state) == MAPPED)
            return 1;
    }
    return 0;
}

void jp_jitdump_look_sig(void)
{
    for (uint32_t i = 0; i < atomic_load(&dumps_used); i++) {
        if (atomic_load(&dumps[i].state) == MAPPED)
            record_sig(&dumps[i]);
    }
}

static void save_sig(struct dump *dump, int whole)
{
    const uint64_t limit = whole ? UINT64_MAX : JP_SAVE_MAX;
    struct stat info;
    int fd = find_sig(dump);
    if (fd >= 0)
        hold_sig(dump, fd);
    if (dump->keep.linked) {
        if (jp_sys_stat_sig(jp_keep_path_sig(&dump->keep), 0, &info) == 0)
            dump->info = info;
        if (whole && !dump->inherited)
            jp_keep_replace_link_sig(&dump->keep);
    } else if (fd >= 0) {
        jp_keep_copy_sig(&dump->keep, fd, dump->info.st_ino, limit);
    } else if (dump->held != NULL) {
        dump->deleted = 1;
        jp_keep_mapping_sig(&dump->keep, &dump->held, &dump->held_size,
                            dump->info.st_ino, limit);
        if (jp_sys_stat_sig(jp_keep_path_sig(&dump->keep), 0, &info) == 0)
            dump->info.st_size = info.st_size;
    }
    event_sig(dump, fd);
    if (fd >= 0)
        jp_sys_close_sig(fd);
}

void jp_jitdump_save_sig(int whole)
{
    jp_jitdump_look_sig();
    for (uint32_t i = 0; i < atomic_load(&dumps_used); i++) {
        if (atomic_load(&dumps[i].state) == DUMP)
            save_sig(&dumps[i], whole);
    }
}

void jp_jitdump_reset_sig(void)
{
    for (uint32_t i = 0; i < atomic_load(&dumps_used); i++) {
        struct dump *dump = &dumps[i];
        const int known = atomic_load(&dump->state) == DUMP && !dump->deleted;
        /* jprof's own mappings are not in a child. */
        dump->held = NULL;
        dump->inherited = 1;
        dump->keep.number = 0;
        dump->keep.inode = 0;
        dump->keep.linked = 0;
        atomic_store(&dump->state, known ? MAPPED : FREE);
    }
}
