/* SPDX-License-Identifier: MIT
 *
 * Files in /proc, and memory that is read without faulting.
 * Runs in: handler, any thread, vfork children. */
#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "sys.h"

/* Names in /proc, of the calling thread's folder and of its process's. */
static const char self_paths[][2][28] = {
    [JP_SELF_MAPS] = {"/proc/thread-self/maps", "/proc/self/maps"},
    [JP_SELF_MEM] = {"/proc/thread-self/mem", "/proc/self/mem"},
    [JP_SELF_SCHEDSTAT] = {"/proc/thread-self/schedstat",
                           "/proc/self/schedstat"}};

/* Whether the memory behind the path is this process's, with the mark in it. */
static int has_mark_sig(const char *path, const uint64_t *mark)
{
    uint64_t read = 0;
    const int fd = jp_sys_open_sig(path, O_RDONLY, 0);
    if (fd < 0)
        return 0;
    jp_sys_pread_sig(fd, &read, sizeof(read), (uint64_t)mark);
    jp_sys_close_sig(fd);
    return read == *mark;
}

/* Which of the two folders is the caller's: 0, or 1 where the thread's is a
 * tracer's. */
__attribute__((noinline)) static unsigned thread_folder_sig(void)
{
    const uint64_t mark = jp_sys_clock_sig(CLOCK_MONOTONIC) | 1;
    return !has_mark_sig(self_paths[JP_SELF_MEM][0], &mark) &&
           has_mark_sig(self_paths[JP_SELF_MEM][1], &mark);
}

int jp_self_open_sig(enum jp_self_file what)
{
    static _Atomic uint32_t known; /* 1 more than the folder; 0: not yet */
    uint32_t folder = atomic_load_explicit(&known, memory_order_relaxed);
    if (folder == 0) {
        folder = thread_folder_sig() + 1;
        atomic_store_explicit(&known, folder, memory_order_relaxed);
    }
#ifdef JP_TEST_QEMU /* qemu-user emulates the process's list alone (7.2) */
    if (what == JP_SELF_MAPS)
        folder = 2;
#endif
    return jp_sys_open_sig(self_paths[what][folder - 1], O_RDONLY, 0);
}

/* Set once the kernel has refused process_vm_readv. */
static _Atomic uint32_t safe_read_by_file;

/* Both ways to read memory name the calling thread, since the process's first
 * thread may have ended, and its memory with it.  They are functions of their
 * own, as the handler's stack is deepest here. */
__attribute__((noinline)) static long
safe_read_file_sig(uint64_t address, void *buffer, size_t size)
{
    const int fd = jp_self_open_sig(JP_SELF_MEM);
    if (fd < 0)
        return -EPERM;
    long got = jp_sys_pread_sig(fd, buffer, size, address);
    jp_sys_close_sig(fd);
    return got;
}

__attribute__((noinline)) static long
safe_read_call_sig(uint64_t address, void *buffer, size_t size, uint32_t tid)
{
    const struct iovec local = {buffer, size};
    const struct iovec remote = {(void *)address, size};
    return jp_sys_sig(SYS_process_vm_readv, tid, (long)&local, 1, (long)&remote,
                      1);
}

long jp_self_read_sig(uint64_t address, void *buffer, size_t size)
{
    long got = -ENOSYS;
    if (atomic_load_explicit(&safe_read_by_file, memory_order_relaxed) == 0)
        got = safe_read_call_sig(address, buffer, size, jp_sys_gettid_sig());
    /* Other errors say nothing about the memory. */
    if (got >= 0 || got == -EFAULT)
        return got;
    atomic_store_explicit(&safe_read_by_file, 1, memory_order_relaxed);
    return safe_read_file_sig(address, buffer, size);
}
