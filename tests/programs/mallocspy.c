/* SPDX-License-Identifier: MIT
 *
 * Shows that libjprof.so's signal handlers call none of malloc, calloc,
 * realloc, free, pthread_mutex_lock and dl_iterate_phdr.
 *
 * How it works: preloaded before libjprof.so (LD_PRELOAD="mallocspy.so
 * libjprof.so"), its functions are found first and its constructor runs last.
 * The constructor asks the kernel for the handlers that libjprof.so has
 * installed by then and puts its own in front of them, by raw system calls so
 * that no interposed sigaction can hide them.  Its handler sets a thread-local
 * flag around the call of the real one; an interposed function called while
 * the flag is set says so and exits with status 99.  In the end it prints
 * `mallocspy: N signals`: a test must see that N is not 0.
 *
 * A program with handlers of its own calls mallocspy_wrap() after it has
 * installed them; that is how the spy itself is tested (spyproof.c).
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAILED_STATUS 99
#define SIGNALS 65

/* struct sigaction as the kernel has it (x86-64 and aarch64). */
struct kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *memory);
void mallocspy_wrap(void);

static __thread volatile int inside;
static void (*real[SIGNALS])(int, siginfo_t *, void *);
static volatile unsigned long seen;

static void check(const char *name)
{
    static const char text[] = "mallocspy: the handler called ";
    if (!inside)
        return;
    inside = 0;
    ssize_t done = write(2, text, sizeof(text) - 1);
    done += write(2, name, strlen(name));
    done += write(2, "\n", 1);
    _exit(done > 0 ? FAILED_STATUS : FAILED_STATUS + 1);
}

static void spy(int number, siginfo_t *info, void *context)
{
    int before = inside;
    inside = 1;
    real[number](number, info, context);
    inside = before;
    __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
}

void mallocspy_wrap(void)
{
    static const int numbers[] = {SIGPROF, SIGALRM, SIGIO, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct kernel_action action;
        int number = numbers[i];
        if (raw_sigaction(number, NULL, &action) != 0)
            continue;
        if ((uintptr_t)action.handler <= 1 || action.handler == spy)
            continue; /* SIG_DFL, SIG_IGN */
        real[number] = action.handler;
        action.handler = spy;
        raw_sigaction(number, &action, NULL);
    }
}

__attribute__((constructor)) static void begin(void)
{
    mallocspy_wrap();
}

__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "mallocspy: %lu signals\n", seen);
}

void *malloc(size_t size)
{
    check("malloc");
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    check("calloc");
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    check("realloc");
    return __libc_realloc(old, size);
}

void free(void *memory)
{
    check("free");
    __libc_free(memory);
}

/* The next definition after this object's, kept in *place. */
static void *following(void **place, const char *name)
{
    if (*place == NULL)
        *place = dlsym(RTLD_NEXT, name);
    return *place;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static void *place;
    int (*next)(pthread_mutex_t *);
    check("pthread_mutex_lock");
    *(void **)&next = following(&place, "pthread_mutex_lock");
    return next(mutex);
}

int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *),
                    void *data)
{
    static void *place;
    int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    check("dl_iterate_phdr");
    *(void **)&next = following(&place, "dl_iterate_phdr");
    return next(each, data);
}
