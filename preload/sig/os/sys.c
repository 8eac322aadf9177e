/* SPDX-License-Identifier: MIT
 *
 * Raw system calls.
 * Runs in: handler, any thread. */
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "sig/arch/arch.h"

/* Flags that have no effect on a file opened for reading and that nobody else
 * sets: by them a forked child recognises descriptors that are jprof's. */
#define READ_MARK (O_APPEND | O_NONBLOCK)

/* Waiting for a descriptor. */
#define YIELDS 100U
#define NAPS 200U
#define NAP_NS 1000000L
#define IN_VAIN 2U /* tries while jprof has none open */
/* The least number of the folder's descriptor that is kept, and where that is
 * above the process's limit: beyond what programs number themselves. */
#define KEPT_HIGH 512L
#define KEPT_LOW 32L

jp_sys_verdict *_Atomic jp_sys_judge;

/* Makes a system call if the program's filters allow it.  All of jprof's calls
 * come here, but for one in clock_timer.c. */
static long call_sig(long number, const long arguments[6])
{
    jp_sys_verdict *verdict =
        atomic_load_explicit(&jp_sys_judge, memory_order_acquire);
    if (verdict != NULL) {
        const int refused = verdict(number, arguments);
        if (refused != 0)
            return refused;
    }
    return jp_arch_syscall_sig(number, arguments);
}

long jp_sys_sig(long number, long a, long b, long c, long d, long e)
{
    const long arguments[6] = {a, b, c, d, e, 0};
    return call_sig(number, arguments);
}

/* Counts of descriptors opened and closed.  A descriptor is counted before it
 * is opened and after it is closed.  So if both counts were equal when a fork
 * began and have not changed since, the child has no descriptors of jprof's. */
static _Atomic uint64_t opened, closed;

void jp_sys_before_open_sig(void)
{
    atomic_fetch_add(&opened, 1);
}

int jp_sys_after_open_sig(int fd)
{
    if (fd < 0)
        atomic_fetch_add(&closed, 1);
    return fd;
}

int jp_sys_awaits_descriptor_sig(int error, struct jp_sys_wait *wait)
{
    static const struct timespec nap = {0, NAP_NS};
    static uint32_t never_woken;
    if (error != -EMFILE || wait->tries++ >= YIELDS + NAPS)
        return 0;
    /* (One may have been closed since the last try.) */
    if (atomic_load(&opened) == atomic_load(&closed))
        return wait->in_vain++ < IN_VAIN;
    wait->in_vain = 0;
    /* A thread that has descriptors of jprof's may have lost its processor. */
    if (wait->tries <= YIELDS)
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    else
        jp_sys_sig(SYS_futex, (long)&never_woken, FUTEX_WAIT_PRIVATE, 0,
                   (long)&nap, 0);
    return 1;
}

/* The folder that jp_sys_guard named; length 0: none. */
static struct {
    const char *path, *other;
    size_t length;
    uint64_t device, inode;
    int checked; /* 1: whatever is opened there is opened by the folder */
    int kept;    /* a descriptor of it, where no path may lead to it; 0: none */
    int handed;  /* 1: it was handed over, so that no path will do */
} guard;

void jp_sys_guard(const char *folder, const char *other, uint64_t device,
                  uint64_t inode)
{
    guard.path = folder;
    guard.other = other;
    guard.device = device;
    guard.inode = inode;
    guard.checked = inode != 0;
    while (folder[guard.length] != '\0')
        guard.length++;
}

static int is_guarded_sig(const char *path)
{
    for (size_t i = 0; i < guard.length; i++) {
        if (path[i] != guard.path[i])
            return 0;
    }
    return guard.checked && guard.length > 0;
}

/* Whether a descriptor is of the guarded folder. */
static int is_folder_sig(int fd)
{
    struct stat info = {0};
    return jp_sys_fstat_sig(fd, &info) == 0 && S_ISDIR(info.st_mode) &&
           info.st_dev == guard.device && info.st_ino == guard.inode;
}

/* Opens the guarded folder by one of its paths, from `start`.  Returns the
 * descriptor or -errno; -ESTALE: another folder is there. */
__attribute__((noinline)) static int open_path_sig(int start, const char *path)
{
    jp_sys_before_open_sig();
    const int fd = jp_sys_after_open_sig(
        (int)jp_sys_sig(SYS_openat, start, (long)path,
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC | READ_MARK, 0, 0));
    if (fd < 0 || guard.inode == 0 || is_folder_sig(fd))
        return fd;
    jp_sys_close_sig(fd);
    return -ESTALE;
}

static int open_by_path_sig(void)
{
    const int fd = open_path_sig(AT_FDCWD, guard.path);
    return fd < 0 && guard.other[0] == '/'
               ? open_path_sig(AT_FDCWD, guard.other)
               : fd;
}

/* Opens the guarded folder. */
static int open_guarded_sig(void)
{
    const int fd = guard.handed ? -ENOENT : open_by_path_sig();
    return fd < 0 && guard.kept > 0 ? open_path_sig(guard.kept, ".") : fd;
}

/* Whether the kept descriptor is still the folder's: the program may have
 * closed it and opened another file. */
static int is_kept_sig(void)
{
    return guard.kept > 0 && is_folder_sig(guard.kept);
}

int jp_sys_guard_is_kept(void)
{
    return guard.kept > 0;
}

int jp_sys_keep_sig(int fd)
{
    long high = jp_sys_sig(SYS_fcntl, fd, F_DUPFD_CLOEXEC, KEPT_HIGH, 0, 0);
    if (high < 0)
        high = jp_sys_sig(SYS_fcntl, fd, F_DUPFD_CLOEXEC, KEPT_LOW, 0, 0);
    jp_sys_close_sig(fd);
    return high > 0 ? (int)high : 0;
}

int jp_sys_guard_keep(uint64_t *device, uint64_t *inode)
{
    struct stat info = {0};
    if (guard.length > 0 && !is_kept_sig()) {
        const int fd = open_by_path_sig();
        if (fd < 0 || jp_sys_fstat_sig(fd, &info) != 0)
            return 0;
        guard.device = info.st_dev;
        guard.inode = info.st_ino;
        guard.kept = jp_sys_keep_sig(fd);
    }
    *device = guard.device;
    *inode = guard.inode;
    return guard.kept;
}

int jp_sys_guard_take(int fd, uint64_t device, uint64_t inode)
{
    if (guard.length == 0)
        return 0;
    if (!guard.checked) {
        guard.device = device;
        guard.inode = inode;
    }
    guard.kept = fd;
    if (!is_kept_sig()) {
        guard.kept = 0;
        guard.inode = guard.checked ? guard.inode : 0;
        return 0;
    }
    guard.checked = guard.handed = 1;
    jp_sys_sig(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC, 0, 0);
    return 1;
}

int jp_sys_guard_pass(int on)
{
    if (!is_kept_sig())
        return 0;
    const int fd = on ? open_by_path_sig() : -1;
    int writable = 0;
    if (fd >= 0) {
        writable =
            jp_sys_sig(SYS_faccessat, fd, (long)".", W_OK | X_OK, 0, 0) == 0;
        jp_sys_close_sig(fd);
    }
    return !writable && jp_sys_sig(SYS_fcntl, guard.kept, F_SETFD,
                                   on ? 0 : FD_CLOEXEC, 0, 0) == 0;
}

void jp_sys_guard_leave(void)
{
    if (is_kept_sig())
        jp_sys_sig(SYS_close, guard.kept, 0, 0, 0, 0); /* nobody counts it */
    guard.kept = guard.handed = 0;
}

/* What *path starts from, for the system calls: AT_FDCWD, or the guarded
 * folder, opened, in which case *path is made relative to it; leave_sig closes
 * the folder.  Any other negative number is an error. */
static int enter_sig(const char **path)
{
    if (!is_guarded_sig(*path))
        return AT_FDCWD;
    *path += guard.length;
    if (**path == '\0')
        *path = ".";
    return open_guarded_sig();
}

static int is_place_sig(int folder)
{
    return folder >= 0 || folder == AT_FDCWD;
}

static void leave_sig(int folder)
{
    if (folder >= 0)
        jp_sys_close_sig(folder);
}

static int open_at_sig(int folder, const char *path, int flags, int mode)
{
    if ((flags & O_ACCMODE) == O_RDONLY)
        flags |= READ_MARK;
    /* So that a FIFO at the path or a lease on the file does not stop the
     * program, and a terminal does not become its controlling one. */
    flags |= O_NONBLOCK | O_NOCTTY;
    jp_sys_before_open_sig();
    return jp_sys_after_open_sig((int)jp_sys_sig(SYS_openat, folder, (long)path,
                                                 flags | O_CLOEXEC, mode, 0));
}

int jp_sys_open_sig(const char *path, int flags, int mode)
{
    const int folder = enter_sig(&path);
    if (!is_place_sig(folder))
        return folder;
    const int fd = open_at_sig(folder, path, flags, mode);
    leave_sig(folder);
    return fd;
}

void jp_sys_close_sig(int fd)
{
    jp_sys_sig(SYS_close, fd, 0, 0, 0, 0);
    atomic_fetch_add(&closed, 1);
}

uint64_t jp_sys_opened_sig(void)
{
    const uint64_t done = atomic_load(&closed);
    return atomic_load(&opened) == done ? done : UINT64_MAX;
}

int jp_sys_may_inherit_sig(uint64_t before)
{
    const uint64_t now = atomic_load(&opened);
    atomic_store(&closed, now);
    return before != now;
}

int jp_sys_is_marked_sig(int fd)
{
    const long flags = jp_sys_sig(SYS_fcntl, fd, F_GETFL, 0, 0, 0);
    const long close = jp_sys_sig(SYS_fcntl, fd, F_GETFD, 0, 0, 0);
    return flags >= 0 && close >= 0 && (close & FD_CLOEXEC) != 0 &&
           (flags & O_ACCMODE) == O_RDONLY && (flags & READ_MARK) == READ_MARK;
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

int jp_sys_link_sig(const char *from, const char *to)
{
    const int folder = enter_sig(&to);
    int error = folder;
    if (is_place_sig(folder))
        error = (int)jp_sys_sig(SYS_linkat, AT_FDCWD, (long)from, folder,
                                (long)to, 0);
    leave_sig(folder);
    return error;
}

int jp_sys_rename_sig(const char *from, const char *to)
{
    const int source = enter_sig(&from);
    const int target = is_place_sig(source) ? enter_sig(&to) : source;
    int error = target;
    if (is_place_sig(target))
        error = (int)jp_sys_sig(JP_ARCH_RENAME, source, (long)from, target,
                                (long)to, 0);
    leave_sig(source);
    if (target != source)
        leave_sig(target);
    return error;
}

int jp_sys_fstat_sig(int fd, struct stat *out)
{
    return (int)jp_sys_sig(JP_ARCH_STAT, fd, (long)"", (long)out, AT_EMPTY_PATH,
                           0);
}

int jp_sys_stat_sig(const char *path, int follow, struct stat *out)
{
    return (int)jp_sys_sig(JP_ARCH_STAT, AT_FDCWD, (long)path, (long)out,
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
    long result =
        jp_sys_sig(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0);
    return result == 0 ? limit.rlim_cur : UINT64_MAX;
}

int jp_sys_allocate_sig(int fd, uint64_t offset, uint64_t size)
{
    if (offset + size > jp_sys_file_limit_sig())
        return -EFBIG;
    return (int)jp_sys_sig(SYS_fallocate, fd, 0, (long)offset, (long)size, 0);
}

static void *map_sig(size_t size, int rights, int flags, int fd,
                     uint64_t offset)
{
    const long arguments[6] = {0, (long)size, rights, flags, fd, (long)offset};
    long result = call_sig(SYS_mmap, arguments);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

static void advise_sig(void *memory, size_t size, int advice)
{
    if (memory != NULL)
        jp_sys_sig(SYS_madvise, (long)memory, (long)size, advice, 0, 0);
}

long jp_sys_gather_sig(const struct iovec *to, const struct iovec *from,
                       uint32_t count)
{
    return jp_sys_sig(SYS_process_vm_readv, jp_sys_gettid_sig(), (long)to,
                      count, (long)from, count);
}

void *jp_sys_memory_sig(size_t size, enum jp_on_fork on_fork)
{
    void *memory = map_sig(size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (on_fork != JP_FORK_KEEP)
        advise_sig(memory, size,
                   on_fork == JP_FORK_WIPE ? MADV_WIPEONFORK : MADV_DONTFORK);
    return memory;
}

void *jp_sys_common_sig(size_t size)
{
    return map_sig(size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0);
}

void *jp_sys_stack_sig(size_t size)
{
    return map_sig(size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
}

void *jp_sys_map_file_sig(int fd, uint64_t offset, size_t size)
{
    void *memory =
        map_sig(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    advise_sig(memory, size, MADV_DONTFORK);
    return memory;
}

void *jp_sys_map_shared_sig(int fd, uint64_t offset, size_t size)
{
    return map_sig(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

void *jp_sys_map_read_sig(int fd, size_t size)
{
    void *memory = map_sig(size, PROT_READ, MAP_SHARED, fd, 0);
    advise_sig(memory, size, MADV_DONTFORK);
    return memory;
}

int jp_sys_patch_sig(uint64_t address, size_t size)
{
    const long arguments[6] = {(long)address,
                               (long)size,
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                               -1,
                               0};
    const long result = call_sig(SYS_mmap, arguments);
    return result == (long)address ? 0 : -ENOMEM;
}

void jp_sys_unmap_sig(void *address, size_t size)
{
    jp_sys_sig(SYS_munmap, (long)address, (long)size, 0, 0, 0);
}

__attribute__((noinline)) static uint32_t number_sig(long call)
{
    const long number = jp_sys_sig(call, 0, 0, 0, 0, 0);
    return number > 0 ? (uint32_t)number : 0;
}

uint32_t jp_sys_getpid_sig(void)
{
    return number_sig(SYS_getpid);
}

uint32_t jp_sys_getppid_sig(void)
{
    return number_sig(SYS_getppid);
}

uint32_t jp_sys_gettid_sig(void)
{
    return number_sig(SYS_gettid);
}

_Atomic uint32_t jp_sys_no_counter;
jp_sys_time_function *jp_sys_time = clock_gettime;

uint64_t jp_sys_clock_sig(clockid_t clock)
{
    struct timespec now = {0, 0};
    /* The vdso reads these itself; for CPU clocks it would make a system
     * call. */
    const int direct =
        (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ||
         clock == CLOCK_BOOTTIME) &&
        atomic_load_explicit(&jp_sys_no_counter, memory_order_relaxed) == 0;
    if ((direct
             ? jp_sys_time(clock, &now)
             : jp_sys_sig(SYS_clock_gettime, clock, (long)&now, 0, 0, 0)) != 0)
        return 0;
    return (uint64_t)now.tv_sec * JP_NS + (uint64_t)now.tv_nsec;
}

int jp_sys_sigmask_sig(int how, uint64_t set, uint64_t *old)
{
    return (int)jp_sys_sig(SYS_rt_sigprocmask, how, (long)&set, (long)old,
                           sizeof(set), 0);
}
