/* SPDX-License-Identifier: MIT
 *
 * Calls each function that is named on stdin, by NAME or NAME@VERSION, in a
 * child that shares this memory, but has a thread pointer that leads nowhere:
 *     strangers process|thread none|zeros|closed|stale
 * process: as vfork makes one; thread: one more thread of this process.  The
 * pointer is 0, leads to zeros, to memory that nobody may read, or to where a
 * thread's was that has ended.  stubs.so stands behind the library (see
 * stubs.c): so nothing that is called touches thread-local memory by itself,
 * and a call that does not come through with all its arguments is one that
 * jprof did something to.  Prints `calls N` and what went wrong.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "stubs.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common.h"

#define STACK 65536
#define GONE 0x7a7a7a7aL

typedef long function(long, long, long, long, long, long);

static function *callee;
static volatile long answer;
static volatile int child_tid;
static char *stack;

/* A system call past the C library, whose functions are hooked. */
static long raw(long number, long a, long b, long c, long d, long e)
{
#ifdef __x86_64__
    long result = number;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                     : "memory");
    return x0;
#endif
}

/* The child: on a stack of its own, and gone without a return. */
__attribute__((noreturn, used)) static void child(void)
{
    answer = callee(11, 12, 13, 14, 15, 16);
    for (;;)
        raw(SYS_exit, answer == STUB_ANSWER ? 0 : 1, 0, 0, 0, 0);
}

/* clone, the child going straight to child(). */
static long begin(long flags, void *thread_pointer)
{
    char *top = stack + STACK - 64;
    long result;
#ifdef __x86_64__
    register long tid __asm__("r10") = (long)&child_tid;
    register long pointer __asm__("r8") = (long)thread_pointer;
    __asm__ volatile("syscall\n"
                     "test %%rax, %%rax\n"
                     "jnz 1f\n"
                     "xor %%ebp, %%ebp\n"
                     "call child\n"
                     "1:\n"
                     : "=a"(result)
                     : "0"((long)SYS_clone), "D"(flags), "S"(top),
                       "d"(&child_tid), "r"(tid), "r"(pointer)
                     : "rcx", "r11", "memory");
#else
    register long call __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = flags;
    register char *x1 __asm__("x1") = top;
    register volatile int *x2 __asm__("x2") = &child_tid;
    register void *x3 __asm__("x3") = thread_pointer;
    register volatile int *x4 __asm__("x4") = &child_tid;
    __asm__ volatile("svc 0\n"
                     "cbnz x0, 1f\n"
                     "bl child\n"
                     "1:\n"
                     : "+r"(x0)
                     : "r"(call), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                     : "x30", "memory");
    result = x0;
#endif
    return result;
}

/* Returns its wait status, or -1. */
static int in_process(void *thread_pointer)
{
    int status = -1;
    const long pid =
        begin(CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD, thread_pointer);
    return pid > 0 && raw(SYS_wait4, pid, (long)&status, 0, 0, 0) == pid
               ? status
               : -1;
}

static int in_thread(void *thread_pointer)
{
    child_tid = 1;
    if (begin(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                  CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                  CLONE_CHILD_CLEARTID,
              thread_pointer) < 0)
        return -1;
    int tid;
    while ((tid = child_tid) != 0)
        raw(SYS_futex, (long)&child_tid, FUTEX_WAIT, tid, 0, 0);
    return answer == STUB_ANSWER ? 0 : 1;
}

static void *say_pointer(void *data)
{
    *(void **)data = __builtin_thread_pointer();
    return NULL;
}

/* Where a thread's was: an end that left the memory there. */
static void *stale(void)
{
    void *pointer = NULL;
    pthread_t thread;
    if (pthread_create(&thread, NULL, say_pointer, &pointer) != 0)
        die("pthread_create");
    pthread_join(thread, NULL);
    memset((char *)pointer - 4096, 0, 4096 + 64);
    return pointer;
}

static void *pointer_of(const char *kind)
{
    char *memory;
    if (strcmp(kind, "none") == 0)
        return NULL;
    if (strcmp(kind, "stale") == 0)
        return stale();
    memory =
        mmap(NULL, 2 * STACK,
             strcmp(kind, "zeros") == 0 ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory + STACK;
}

static int arrived(const char *name)
{
    for (int i = 0; i < 6; i++) {
        if (stub_arguments[i] != 11 + i)
            return 0;
    }
    return strcmp(stub_called, name) == 0 && answer == STUB_ANSWER;
}

int main(int argc, char **argv)
{
    char name[64];
    long calls = 0;
    if (argc < 3)
        return 64;
    const int thread = strcmp(argv[1], "thread") == 0;
    void *pointer = pointer_of(argv[2]);
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (scanf("%63s", name) == 1) {
        char *version = strchr(name, '@');
        if (version != NULL)
            *version++ = '\0';
        *(void **)&callee = version != NULL
                                ? dlvsym(RTLD_DEFAULT, name, version)
                                : dlsym(RTLD_DEFAULT, name);
        stub_called = "nothing";
        answer = GONE;
        if (callee == NULL)
            return 3;
        stubs_on = 1;
        const int status = thread ? in_thread(pointer) : in_process(pointer);
        stubs_on = 0;
        if (status != 0 || !arrived(name))
            printf("%s of %s: status %x, %s was called\n", name,
                   version != NULL ? version : "no version", (unsigned)status,
                   stub_called);
        calls++;
    }
    printf("calls %ld\n", calls);
    return 0;
}
