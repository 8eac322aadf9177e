/* SPDX-License-Identifier: MIT
 *
 * Raw system calls, so that a handler reaches no libc function that could
 * lock, be cancelled or set errno.  Unless said otherwise, a function returns
 * what the system call does, and -errno on failure.  Once the program has
 * seccomp filters, a call that they do not allow is not made and fails with the
 * error that they answer with.
 * Runs in: handler, any thread. */
#ifndef JP_SYS_H
#define JP_SYS_H

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#define JP_NS 1000000000ULL

/* A signal set as the kernel knows it: 64 bits, signal n is bit n-1. */
#define JP_SIGSET(signal) (1ULL << ((signal)-1))

/* Makes a system call with up to five arguments. */
long jp_sys_sig(long number, long a, long b, long c, long d, long e);

/* Called before each system call of jprof's, if it is not NULL: returns 0, or
 * the -errno with which the call fails without being made.  filter.c sets it
 * when the program has filters, state/dispatched.c where calls become
 * signals. */
typedef int jp_sys_verdict(long number, const long arguments[6]);
extern jp_sys_verdict *_Atomic jp_sys_judge;

/* Has every path that begins with `folder` lead into the folder with this
 * device and inode, and no other: opening, linking and renaming fail with
 * -ESTALE once another folder is at that path.  `other` is another path to it,
 * for when the first does not lead there; one without a leading slash is none.
 * `folder` ends with a slash; the strings are not copied and must stay.  Called
 * once, by the constructor. */
void jp_sys_guard(const char *folder, const char *other, uint64_t device,
                  uint64_t inode);

/* Keeps that folder open from here on, by a high descriptor with O_CLOEXEC, for
 * where no path will lead to it, and sets *device and *inode to what identifies
 * it.  Returns the descriptor; 0: none. */
int jp_sys_guard_keep(uint64_t *device, uint64_t *inode);

/* Whether it has a number for such a descriptor; makes no system call. */
int jp_sys_guard_is_kept(void);

/* Takes over such a descriptor, which the program before an exec has passed,
 * and guards the folder from here on.  Returns 0, and leaves the descriptor
 * alone, if another file is open there. */
int jp_sys_guard_take(int fd, uint64_t device, uint64_t inode);

/* on: passes the descriptor to the program that will be executed, if no path
 * leads to the folder, or files cannot be made there (in a mount that can only
 * be read); else keeps it again.  Returns 0 where there is none or
 * it is not needed. */
int jp_sys_guard_pass(int on);

/* Closes it. */
void jp_sys_guard_leave(void);

/* openat(2) with O_CLOEXEC; never waits, whatever is at the path.  Returns the
 * descriptor, which jp_sys_close_sig closes. */
int jp_sys_open_sig(const char *path, int flags, int mode);

/* Moves a descriptor that jprof keeps out of the way of the program's own: to a
 * high number, with O_CLOEXEC.  Returns that; 0: it was closed. */
int jp_sys_keep_sig(int fd);

/* Whether to try again what needs a descriptor and failed with `error`; *wait
 * is zero at first.  Waits and returns 1 where handlers in other threads may
 * have the last descriptors that the program may open (-EMFILE,
 * RLIMIT_NOFILE).  Returns 0 for other errors, where jprof has none open, and
 * after 0.2 s in all.  The caller has none open. */
struct jp_sys_wait {
    unsigned tries, in_vain;
};
int jp_sys_awaits_descriptor_sig(int error, struct jp_sys_wait *wait);

/* Called before and after a system call that opens a descriptor in another way.
 * fd: what that call returned, which after_open returns; jp_sys_close_sig
 * closes it. */
void jp_sys_before_open_sig(void);
int jp_sys_after_open_sig(int fd);
void jp_sys_close_sig(int fd);

/* Handlers in other threads may have descriptors open when a thread forks, and
 * the child then has them, too.  opened: called before the fork.  may_inherit:
 * called once in the child, with what opened returned; whether the child may
 * have such descriptors.  is_marked: whether fd is one that jprof opened for
 * reading. */
uint64_t jp_sys_opened_sig(void);
int jp_sys_may_inherit_sig(uint64_t before);
int jp_sys_is_marked_sig(int fd);

/* read(2), pread(2), pwrite(2): return the bytes read or written. */
long jp_sys_read_sig(int fd, void *buffer, size_t size);
long jp_sys_pread_sig(int fd, void *buffer, size_t size, uint64_t offset);
long jp_sys_pwrite_sig(int fd, const void *data, size_t size, uint64_t offset);

/* Writes all bytes.  Returns 0 or -errno. */
int jp_sys_write_sig(int fd, const void *data, size_t size);

/* linkat(2), renameat(2), fstat(2), stat(2), readlink(2), ftruncate(2).
 * follow: whether a symbolic link at the end of the path is followed. */
int jp_sys_link_sig(const char *from, const char *to);
int jp_sys_rename_sig(const char *from, const char *to);
int jp_sys_fstat_sig(int fd, struct stat *out);
int jp_sys_stat_sig(const char *path, int follow, struct stat *out);
long jp_sys_readlink_sig(const char *path, char *buffer, size_t size);
int jp_sys_ftruncate_sig(int fd, uint64_t size);

/* RLIMIT_FSIZE, the bytes that no file may grow beyond; UINT64_MAX: no
 * limit. */
uint64_t jp_sys_file_limit_sig(void);

/* Allocates the file's blocks for [offset, offset + size) (fallocate(2)).
 * Returns 0 or -errno: -EFBIG beyond RLIMIT_FSIZE, without the call, since the
 * kernel would send SIGXFSZ. */
int jp_sys_allocate_sig(int fd, uint64_t offset, uint64_t size);

/* Reads many parts of this process's memory with one system call: from[i] to
 * to[i], which have the same size.  Returns the bytes that were read, in order,
 * until a part that is not mapped, or -errno where the kernel refuses
 * process_vm_readv. */
struct iovec;
long jp_sys_gather_sig(const struct iovec *to, const struct iovec *from,
                       uint32_t count);

/* Maps private memory of zeros; NULL on failure.  on_fork: what a forked child
 * has at its addresses, namely nothing, zeros, or the parent's bytes. */
enum jp_on_fork { JP_FORK_DROP, JP_FORK_WIPE, JP_FORK_KEEP };
void *jp_sys_memory_sig(size_t size, enum jp_on_fork on_fork);

/* Maps memory of zeros that this process shares with the children that it
 * forks; NULL on failure. */
void *jp_sys_common_sig(size_t size);

/* Maps memory for a signal stack, which a forked child has too; NULL on
 * failure. */
void *jp_sys_stack_sig(size_t size);

/* Map a part of a file, shared and writable; NULL on failure.  A forked child
 * does not have the first mapping, and has the second. */
void *jp_sys_map_file_sig(int fd, uint64_t offset, size_t size);
void *jp_sys_map_shared_sig(int fd, uint64_t offset, size_t size);

/* Maps the first `size` bytes of a file, which may be shorter, to be read
 * through jp_self_read_sig only.  A forked child does not have it.  NULL
 * on failure. */
void *jp_sys_map_read_sig(int fd, size_t size);

/* Maps memory of zeros, which a forked child has too, over what is mapped at
 * `address`.  Returns 0 or -ENOMEM. */
int jp_sys_patch_sig(uint64_t address, size_t size);

/* munmap(2). */
void jp_sys_unmap_sig(void *address, size_t size);

/* The pid, the parent's pid, the calling thread's id; 0 where a filter of the
 * program's forbids to ask, and for a parent outside of the pid namespace. */
uint32_t jp_sys_getpid_sig(void);
uint32_t jp_sys_getppid_sig(void);
uint32_t jp_sys_gettid_sig(void);

/* The time of a clock in ns; 0 on failure. */
uint64_t jp_sys_clock_sig(clockid_t clock);

/* The clock_gettime that jp_sys_clock_sig calls.  The constructor sets it to
 * the C library's: another library's may tell other times, or take locks. */
typedef int jp_sys_time_function(clockid_t clock, struct timespec *time);
extern jp_sys_time_function *jp_sys_time;

/* 1: a thread may not read the counter by which the vdso tells the time, so
 * the kernel is asked in all of them. */
extern _Atomic uint32_t jp_sys_no_counter;

/* Changes the calling thread's signal mask (how: SIG_BLOCK, SIG_UNBLOCK,
 * SIG_SETMASK).  Sets are the kernel's, 64 bits; old may be NULL. */
int jp_sys_sigmask_sig(int how, uint64_t set, uint64_t *old);

/* The C library's own two signals (nptl(7)).  No program blocks them, while
 * jprof blocks them together with all others: a thread that has them blocked
 * in a signal handler was interrupted in jprof's own work. */
#define JP_SIGNALS_LIBC (JP_SIGSET(32) | JP_SIGSET(33))

#endif
