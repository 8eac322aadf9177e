/* SPDX-License-Identifier: MIT
 *
 * Raw system calls.
 * Runs in: handler, any thread. */
#include "sys.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "arch/arch.h"

#define OPEN_MAX_NOW 64U

long jp_sys_sig(long number, long a, long b, long c, long d, long e)
{
    const long arguments[6] = {a, b, c, d, e, 0};
    return jp_arch_syscall_sig(number, arguments);
}

/* Descriptors that are open for a moment, + 1: a forked child has those of all
 * threads.  One is entered after it was opened and taken out before it is
 * closed, so a number here is never somebody else's. */
static _Atomic int open_now[OPEN_MAX_NOW];

static void replace_sig(int from, int to)
{
    for (unsigned i = 0; i < OPEN_MAX_NOW; i++) {
        int seen = from;
        if (atomic_compare_exchange_strong(&open_now[i], &seen, to))
            return;
    }
}

int jp_sys_open_sig(const char *path, int flags, int mode)
{
    int fd = (int)jp_sys_sig(SYS_openat, AT_FDCWD, (long)path,
                             flags | O_CLOEXEC, mode, 0);
    if (fd >= 0)
        replace_sig(0, fd + 1);
    return fd;
}

void jp_sys_close_sig(int fd)
{
    replace_sig(fd + 1, 0);
    jp_sys_sig(SYS_close, fd, 0, 0, 0, 0);
}

void jp_sys_close_inherited_sig(void)
{
    for (unsigned i = 0; i < OPEN_MAX_NOW; i++) {
        int fd = atomic_exchange(&open_now[i], 0) - 1;
        if (fd >= 0)
            jp_sys_sig(SYS_close, fd, 0, 0, 0, 0);
    }
}

long jp_sys_read_sig(int fd, void *buffer, size_t size)
{
    return jp_sys_sig(SYS_read, fd, (long)buffer, (long)size, 0, 0);
}

long jp_sys_pread_sig(int fd, void *buffer, size_t size, uint64_t offset)
{
    return jp_sys_sig(SYS_pread64, fd, (long)buffer, (long)size, (long)offset,
                      0);
}

long jp_sys_pwrite_sig(int fd, const void *data, size_t size, uint64_t offset)
{
    return jp_sys_sig(SYS_pwrite64, fd, (long)data, (long)size, (long)offset,
                      0);
}

int jp_sys_write_sig(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        long done = jp_sys_sig(SYS_write, fd, (long)at, (long)size, 0, 0);
        if (done <= 0)
            return done == 0 ? -EIO : (int)done;
        at += done;
        size -= (size_t)done;
    }
    return 0;
}

int jp_sys_unlink_sig(const char *path)
{
    return (int)jp_sys_sig(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0);
}

int jp_sys_link_sig(const char *from, const char *to)
{
    return (int)jp_sys_sig(SYS_linkat, AT_FDCWD, (long)from, AT_FDCWD,
                           (long)to, 0);
}

int jp_sys_fstat_sig(int fd, struct stat *out)
{
    return (int)jp_sys_sig(SYS_newfstatat, fd, (long)"", (long)out,
                           AT_EMPTY_PATH, 0);
}

int jp_sys_stat_sig(const char *path, int follow, struct stat *out)
{
    return (int)jp_sys_sig(SYS_newfstatat, AT_FDCWD, (long)path, (long)out,
                           follow ? 0 : AT_SYMLINK_NOFOLLOW, 0);
}

long jp_sys_readlink_sig(const char *path, char *buffer, size_t size)
{
    return jp_sys_sig(SYS_readlinkat, AT_FDCWD, (long)path, (long)buffer,
                      (long)size, 0);
}

int jp_sys_ftruncate_sig(int fd, uint64_t size)
{
    return (int)jp_sys_sig(SYS_ftruncate, fd, (long)size, 0, 0, 0);
}

uint64_t jp_sys_file_limit_sig(void)
{
    struct rlimit limit;
    long result = jp_sys_sig(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit,
                             0);
    return result == 0 ? limit.rlim_cur : UINT64_MAX;
}

int jp_sys_allocate_sig(int fd, uint64_t offset, uint64_t size)
{
    if (offset + size > jp_sys_file_limit_sig())
        return -EFBIG;
    return (int)jp_sys_sig(SYS_fallocate, fd, 0, (long)offset, (long)size, 0);
}

static void *map_sig(size_t size, int flags, int fd, uint64_t offset)
{
    const long arguments[6] = {0,     (long)size, PROT_READ | PROT_WRITE,
                               flags, fd,         (long)offset};
    long result = jp_arch_syscall_sig(SYS_mmap, arguments);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

static void advise_sig(void *memory, size_t size, int advice)
{
    if (memory != NULL)
        jp_sys_sig(SYS_madvise, (long)memory, (long)size, advice, 0, 0);
}

void *jp_sys_memory_sig(size_t size, enum jp_on_fork on_fork)
{
    void *memory = map_sig(
        size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    advise_sig(memory, size,
               on_fork == JP_FORK_WIPE ? MADV_WIPEONFORK : MADV_DONTFORK);
    return memory;
}

void *jp_sys_map_file_sig(int fd, uint64_t offset, size_t size)
{
    void *memory = map_sig(size, MAP_SHARED, fd, offset);
    advise_sig(memory, size, MADV_DONTFORK);
    return memory;
}

void jp_sys_unmap_sig(void *address, size_t size)
{
    jp_sys_sig(SYS_munmap, (long)address, (long)size, 0, 0, 0);
}

long jp_sys_peek_sig(uint64_t address, void *buffer, size_t size)
{
    const struct iovec local = {buffer, size};
    const struct iovec remote = {(void *)address, size};
    const long arguments[6] = {jp_sys_getpid_sig(), (long)&local, 1,
                               (long)&remote,       1,            0};
    return jp_arch_syscall_sig(SYS_process_vm_readv, arguments);
}

uint32_t jp_sys_getpid_sig(void)
{
    return (uint32_t)jp_sys_sig(SYS_getpid, 0, 0, 0, 0, 0);
}

uint32_t jp_sys_getppid_sig(void)
{
    return (uint32_t)jp_sys_sig(SYS_getppid, 0, 0, 0, 0, 0);
}

uint32_t jp_sys_gettid_sig(void)
{
    return (uint32_t)jp_sys_sig(SYS_gettid, 0, 0, 0, 0, 0);
}

uint64_t jp_sys_clock_sig(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * JP_NS + (uint64_t)now.tv_nsec;
}

int jp_sys_sigmask_sig(int how, uint64_t set, uint64_t *old)
{
    return (int)jp_sys_sig(SYS_rt_sigprocmask, how, (long)&set, (long)old,
                           sizeof(set), 0);
}

uint64_t jp_sys_block_sig(void)
{
    uint64_t mask = 0;
    jp_sys_sigmask_sig(SIG_SETMASK, UINT64_MAX, &mask);
    return mask;
}

void jp_sys_unblock_sig(uint64_t mask)
{
    jp_sys_sigmask_sig(SIG_SETMASK, mask, NULL);
}
