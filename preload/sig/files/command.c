/* SPDX-License-Identifier: MIT
 *
 * The process's own line in the map.
 * Runs in: handler, any thread. */
#include "command.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "jp_map.h"
#include "mapfile.h"
#include "sig/log/log.h"
#include "sig/os/hash.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

#define EVERY_NS JP_NS
#define LONGEST (JP_MAP_LINE_MAX / 4)

/* The arguments are [first, behind), the environment [behind, last). */
static uint64_t first, behind, last;

static _Atomic uint32_t busy; /* 1: a thread has these: */
static _Atomic uint64_t looked_ns;
static uint64_t seen; /* mark_sig() of the arguments as last written */
static char value[LONGEST];
static char line[JP_MAP_LINE_MAX];

void jp_command_init_sig(uint64_t start, uint64_t end, uint64_t limit)
{
    first = start;
    behind = end;
    last = limit;
}

/* The bytes of the arguments, as /proc/self/cmdline counts them (Linux
 * fs/proc/base.c): if their last byte is no longer 0, they go on to the next
 * byte of 0. */
static size_t length_sig(void)
{
    const char *at = (const char *)(uintptr_t)first;
    size_t length = behind - first;
    if (length == 0 || length > LONGEST)
        return length == 0 ? 0 : LONGEST;
    if (at[length - 1] == '\0')
        return length;
    length = 0;
    while (length < last - first && length < LONGEST && at[length] != '\0')
        length++;
    return length;
}

/* A hash of the arguments. */
static uint64_t mark_sig(void)
{
    const char *at = (const char *)(uintptr_t)first;
    const size_t length = length_sig();
    uint64_t sum = JP_HASH_BEGIN;
    for (size_t i = 0; i < length; i++)
        sum = jp_hash_word_sig(sum, (uint8_t)at[i]);
    return sum;
}

static long read_sig(const char *path)
{
    int fd = jp_sys_open_sig(path, O_RDONLY, 0);
    long got = fd < 0 ? fd : jp_sys_read_sig(fd, value, sizeof(value));
    if (fd >= 0)
        jp_sys_close_sig(fd);
    return got;
}

static void put_sig(struct jp_text *text, const char *key, long length)
{
    if (length <= 0)
        return;
    if (value[length - 1] == '\n')
        length--;
    jp_mapfile_key_sig(text, key);
    jp_text_value_sig(text, value, (size_t)length);
}

/* Puts the process's name, which is its first thread's, into `value`.  Returns
 * its length or -errno.  The first thread can tell it without /proc. */
static long comm_sig(void)
{
    long got = read_sig("/proc/self/comm");
    if (got > 0 || jp_sys_gettid_sig() != jp_owner->pid ||
        jp_sys_sig(SYS_prctl, PR_GET_NAME, (long)value, 0, 0, 0) != 0)
        return got;
    return (long)jp_text_length_sig(value);
}

/* Puts the machine's name, as this process sees it, into `value`.  Returns its
 * length or -errno. */
static long host_sig(void)
{
    _Static_assert(sizeof(struct utsname) <= sizeof(value), "room for uname");
    const size_t at = offsetof(struct utsname, nodename);
    const size_t room = sizeof(((struct utsname *)0)->nodename);
    long got = jp_sys_sig(SYS_uname, (long)value, 0, 0, 0, 0);
    if (got != 0)
        return got;
    for (got = 0; got < (long)room && value[at + (size_t)got] != '\0'; got++)
        value[got] = value[at + (size_t)got];
    return got;
}

/* Bytes of `value` up to the end of the first argument. */
static long word_sig(size_t length)
{
    size_t end = 0;
    while (end < length && value[end] != '\0')
        end++;
    return (long)end;
}

static void write_sig(struct jp_text *text, uint64_t now_ns)
{
    seen = mark_sig();
    jp_mapfile_line_sig(text, now_ns, JP_MAP_PROCESS);
    jp_mapfile_decimal_sig(text, "pid", jp_owner->pid);
    /* The first process of a pid namespace has no parent there. */
    const uint32_t parent = jp_sys_getppid_sig();
    jp_mapfile_decimal_sig(text, "ppid",
                           parent != 0 ? parent : jp_process.forked_by);
    if (jp_log.header->exe[0] != '\0')
        jp_mapfile_string_sig(text, "exe", jp_log.header->exe);
    long got = jp_sys_readlink_sig("/proc/self/cwd", value, sizeof(value));
    if (got > 0) {
        jp_mapfile_key_sig(text, "cwd");
        jp_text_value_sig(text, value, (size_t)got);
    }
    put_sig(text, "comm", comm_sig());
    put_sig(text, "host", host_sig());
    got = read_sig("/proc/self/cmdline");
    if (got <= 0) {
        got = (long)length_sig();
        for (long i = 0; i < got; i++)
            value[i] = ((const char *)(uintptr_t)first)[i];
    }
    if (jp_config.no_args && got > 0)
        got = word_sig((size_t)got);
    put_sig(text, "cmdline", got);
    jp_mapfile_append_sig(text);
}

void jp_command_put_sig(struct jp_text *text, uint64_t now_ns)
{
    atomic_store(&busy, 0); /* a fork may have come while another was at it */
    atomic_store(&looked_ns, now_ns);
    write_sig(text, now_ns);
}

void jp_command_follow_sig(uint64_t now_ns)
{
    struct jp_text text;
    if (now_ns - atomic_load(&looked_ns) < EVERY_NS ||
        !jp_mapfile_ready_sig() || atomic_exchange(&busy, 1) != 0)
        return;
    atomic_store(&looked_ns, now_ns);
    if (mark_sig() != seen) {
        jp_text_init_sig(&text, line, sizeof(line));
        write_sig(&text, now_ns);
    }
    atomic_store(&busy, 0);
}
