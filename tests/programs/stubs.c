/* SPDX-License-Identifier: MIT
 *
 * Preloaded behind the library, in the C library's place: of every function
 * that the library has a door for, one that touches no thread-local memory.
 * While stubs_on is set it notes that it was called, with which arguments, and
 * answers STUB_ANSWER; else it leads on to the C library's.
 * Runs in: tests. */
#include "stubs.h"

#include <dlfcn.h>
#include <stddef.h>

/* clang-format off */
#define NAMES \
    X(_Exit) X(_Fork) X(_exit) X(fsync) X(mmap) X(mmap64) X(mprotect)          \
    X(munmap) X(mremap) X(pkey_mprotect)                                      \
    X(wait) X(wait3) X(wait4) X(waitid) X(waitpid)                            \
    X(__libc_freeres) X(__longjmp_chk) X(__poll_chk) X(__ppoll_chk)           \
    X(__read_chk) X(__recv_chk) X(__recvfrom_chk) X(__sigaction)              \
    X(__sigpause) X(__sysv_signal) X(__xpg_sigpause) X(accept) X(accept4)     \
    X(aio_suspend) X(aio_suspend64) X(alarm) X(bsd_signal) X(chroot)          \
    X(clock_nanosleep) X(clone) X(connect) X(dlclose) X(epoll_pwait)          \
    X(epoll_pwait2) X(epoll_wait) X(execl) X(execle) X(execlp) X(execv)       \
    X(execve) X(execveat) X(execvp) X(execvpe) X(fclose) X(fexecve)           \
    X(getitimer) X(getrandom) X(iconv_close) X(io_getevents) X(longjmp)       \
    X(__monstartup) X(moncontrol) X(monstartup) X(profil) X(sprofil)          \
    X(msgrcv) X(msgsnd) X(nanosleep) X(pause) X(poll) X(popen)                \
    X(posix_spawn) X(posix_spawnp) X(ppoll) X(prctl) X(pselect)               \
    X(cnd_timedwait) X(cnd_wait) X(mtx_lock) X(pthread_barrier_wait)          \
    X(pthread_cond_clockwait) X(pthread_cond_timedwait) X(pthread_cond_wait)  \
    X(pthread_join) X(pthread_mutex_lock) X(pthread_rwlock_rdlock)            \
    X(pthread_rwlock_wrlock) X(thrd_join)                                     \
    X(pthread_create) X(pthread_sigmask) X(read) X(readv) X(recv)             \
    X(recvfrom) X(recvmsg) X(select) X(sem_clockwait) X(sem_timedwait)        \
    X(sem_wait) X(semop) X(semtimedop) X(send) X(sendmsg) X(sendto)           \
    X(seteuid) X(setfsuid) X(setitimer) X(setns) X(setresuid) X(setreuid)     \
    X(setuid) X(sigaction) X(sigaltstack) X(sigblock) X(siggetmask)           \
    X(sighold) X(sigignore) X(siginterrupt) X(siglongjmp) X(signal)           \
    X(signalfd) X(sigprocmask) X(sigrelse) X(sigset) X(sigsetmask)            \
    X(sigsuspend) X(sigtimedwait) X(sigwait) X(sigwaitinfo) X(sleep)          \
    X(ssignal) X(syscall) X(system) X(sysv_signal) X(thrd_sleep)              \
    X(timer_create) X(ualarm) X(unshare) X(usleep) X(write) X(writev)
/* clang-format on */

volatile int stubs_on;
const char *volatile stub_called;
volatile long stub_arguments[6];

typedef long function(long, long, long, long, long, long);

/* In the C library, whatever its version. */
static function *find(const char *name)
{
    function *found;
    *(void **)&found = dlsym(RTLD_NEXT, name);
    return found;
}

#define X(name)                                                                \
    long stub_##name(long a, long b, long c, long d, long e, long f);          \
    static function *next_##name;                                              \
    long stub_##name(long a, long b, long c, long d, long e, long f)           \
    {                                                                          \
        if (!stubs_on) {                                                       \
            if (next_##name == NULL)                                           \
                next_##name = find(#name);                                     \
            return next_##name(a, b, c, d, e, f);                              \
        }                                                                      \
        const long all[6] = {a, b, c, d, e, f};                                \
        for (int i = 0; i < 6; i++)                                            \
            stub_arguments[i] = all[i];                                        \
        stub_called = #name;                                                   \
        return STUB_ANSWER;                                                    \
    }                                                                          \
    __asm__(".globl " #name "\n.type " #name ",@function\n.set " #name         \
            ",stub_" #name "\n");
NAMES
