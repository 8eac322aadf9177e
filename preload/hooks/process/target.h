/* SPDX-License-Identifier: MIT
 *
 * A program that is about to be executed: whether it will be profiled.
 * Runs in: any thread, vfork children. */
#ifndef JP_TARGET_H
#define JP_TARGET_H

#include <stdint.h>

struct jp_target {
    const char *path; /* NULL: the file that is open at fd */
    char *const *argv;
    char *const *envp;
    int fd;     /* what a relative path starts from, or AT_FDCWD */
    int search; /* a path without a slash is looked for in PATH */
};

/* Says in the tree's file why the program will have no profile, if that can be
 * known: it is static, set-uid, for another C library or machine, or will not
 * have the library or its flags in the environment.  The arguments are the
 * program's: they are read without a fault.  No TLS, no errno. */
void jp_target_tell(const struct jp_target *target);

/* The same of a process that has just been made. */
void jp_target_tell_of(const struct jp_target *target, uint32_t pid);

#endif
