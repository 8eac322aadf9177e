/* SPDX-License-Identifier: MIT
 *
 * The functions that only glibc has and the library calls.  The references are
 * weak: musl's loader ends a program whose preloaded library has one that it
 * cannot resolve, and so a program made for musl, which any program may
 * execute, would die of the profile of that.  There the constructor leaves
 * everything alone.
 * Runs in: wherever it is included. */
#ifndef JP_GLIBC_H
#define JP_GLIBC_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

/* What pthread_cleanup_push and _pop call. */
#pragma weak __pthread_register_cancel
#pragma weak __pthread_unregister_cancel

#pragma weak dlvsym

/* What pthread_atfork calls (Linux Standard Base, "Interfaces for libc");
 * pthread_atfork itself is linked in, with a reference that is not weak.
 * object: this library's __dso_handle (Itanium C++ ABI, 3.3.6.3). */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *object)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* Whether the program's C library is glibc. */
static inline int jp_glibc(void)
{
    return __register_atfork != NULL;
}

#endif
