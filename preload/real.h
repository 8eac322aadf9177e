/* SPDX-License-Identifier: MIT
 *
 * The libc functions behind the ones that the library interposes.
 * Runs in: any thread, not in a handler. */
#ifndef JP_REAL_H
#define JP_REAL_H

#define JP_EXPORT __attribute__((visibility("default")))

/* The next definition of `name` in the link order, else the C library's.  If
 * there is none, which would be a broken libc, says so on stderr and returns a
 * function that fails with ENOSYS.  Never NULL. */
void *jp_real(const char *name);

/* Declares a pointer `real` to the function behind the one that it is in,
 * looked up at its first use. */
#define JP_REAL(type, name)                                                   \
    static type *_Atomic found;                                               \
    type *real = found;                                                       \
    if (real == NULL) {                                                       \
        *(void **)&real = jp_real(#name);                                     \
        found = real;                                                         \
    }

#endif
