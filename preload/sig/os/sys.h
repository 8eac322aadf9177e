/* SPDX-License-Identifier: MIT
 *
 * Raw system calls, so that a handler reaches no libc function that could
 * lock, cancel or set errno.  Every function returns -errno on failure.
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

long jp_sys_sig(long number, long a, long b, long c, long d, long e);

/* Asked before each system call of jprof's what would become of it: 0, or the
 * -errno with which it ends instead.  NULL: the program has no filters
 * (filter.h). */
typedef int jp_sys_verdict(long number, const long arguments[6]);
extern jp_sys_verdict *_Atomic jp_sys_judge;

/* Every path that begins with `folder` (with a slash at its end; it stays where
 * it is) leads into this very folder from now on: opening, linking and renaming
 * fail with -ESTALE where the path has come to another one.  To be called once,
 * in the constructor. */
void jp_sys_guard(const char *folder, uint64_t device, uint64_t inode);

/* Never waits, whatever is at the path. */
int jp_sys_open_sig(const char *path, int flags, int mode);
/* To be called before and after a call of another kind that opens one, which
 * jp_sys_close_sig is to close; fd: what it returned, and is returned. */
void jp_sys_before_open_sig(void);
int jp_sys_after_open_sig(int fd);
void jp_sys_close_sig(int fd);

/* Descriptors that handlers in other threads have open when a child is forked:
 * the forking thread asks jp_sys_opened_sig first and gives the answer to
 * jp_sys_may_inherit_sig in the child, which says, once, whether there may be
 * any; jp_sys_is_marked_sig knows those that were opened for reading only. */
uint64_t jp_sys_opened_sig(void);
int jp_sys_may_inherit_sig(uint64_t before);
int jp_sys_is_marked_sig(int fd);
long jp_sys_read_sig(int fd, void *buffer, size_t size);
long jp_sys_pread_sig(int fd, void *buffer, size_t size, uint64_t offset);
long jp_sys_pwrite_sig(int fd, const void *data, size_t size, uint64_t offset);

/* Writes all of it, or returns -errno. */
int jp_sys_write_sig(int fd, const void *data, size_t size);

int jp_sys_link_sig(const char *from, const char *to);
int jp_sys_rename_sig(const char *from, const char *to);
int jp_sys_fstat_sig(int fd, struct stat *out);
/* follow: whether a symbolic link at the end of the path is followed. */
int jp_sys_stat_sig(const char *path, int follow, struct stat *out);
long jp_sys_readlink_sig(const char *path, char *buffer, size_t size);
int jp_sys_ftruncate_sig(int fd, uint64_t size);

/* RLIMIT_FSIZE: the size that no file may pass; UINT64_MAX for none. */
uint64_t jp_sys_file_limit_sig(void);

/* Gives the range [offset, offset + size) of a file real blocks.  Honours
 * RLIMIT_FSIZE by itself (-EFBIG), since the kernel would send SIGXFSZ. */
int jp_sys_allocate_sig(int fd, uint64_t offset, uint64_t size);

/* Zeroed private memory, or NULL.  What a forked child finds there: nothing at
 * all, zeros, or what the parent has there. */
enum jp_on_fork { JP_FORK_DROP, JP_FORK_WIPE, JP_FORK_KEEP };
void *jp_sys_memory_sig(size_t size, enum jp_on_fork on_fork);

/* Zeroed memory that this process shares with the children that it forks, or
 * NULL. */
void *jp_sys_common_sig(size_t size);

/* Memory for a signal stack, or NULL.  A forked child has it too. */
void *jp_sys_stack_sig(size_t size);

/* Maps a part of a file shared and writable, not inherited by fork; or NULL. */
void *jp_sys_map_file_sig(int fd, uint64_t offset, size_t size);
/* The same, and a forked child has it too. */
void *jp_sys_map_shared_sig(int fd, uint64_t offset, size_t size);
/* Maps the first `size` bytes of a file, or where it is to grow to, for the
 * kernel alone to read from: not inherited by fork; or NULL. */
void *jp_sys_map_read_sig(int fd, size_t size);
/* Puts memory of zeros, which a forked child has too, in place of what is
 * mapped there.  Returns 0 or -errno. */
int jp_sys_patch_sig(uint64_t address, size_t size);
void jp_sys_unmap_sig(void *address, size_t size);

/* Reads this process's memory without a fault: bytes read, or -errno.  By
 * process_vm_readv, or by the memory's file where a container refuses that;
 * all or nothing within a page. */
long jp_sys_safe_read_sig(uint64_t address, void *buffer, size_t size);

/* 0 where a filter of the program's forbids to ask. */
uint32_t jp_sys_getpid_sig(void);
uint32_t jp_sys_getppid_sig(void);
uint32_t jp_sys_gettid_sig(void);

/* Nanoseconds of a clock, 0 on failure. */
uint64_t jp_sys_clock_sig(clockid_t clock);

/* Changes the calling thread's mask (how: SIG_BLOCK...), 64-bit kernel sets;
 * old may be NULL. */
int jp_sys_sigmask_sig(int how, uint64_t set, uint64_t *old);

/* The C library's own signals (nptl(7)).  It blocks them together with all
 * others, and no program does; so whoever has them blocked, while a handler
 * runs, is inside. */
#define JP_SIGNALS_LIBC (JP_SIGSET(32) | JP_SIGSET(33))

#endif
