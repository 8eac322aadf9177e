/* SPDX-License-Identifier: MIT
 *
 * Programs that will not be profiled: found out when they are executed, and
 * told in the process tree's file.
 * Runs in: any thread, vfork children. */
#ifndef JP_TARGET_H
#define JP_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* A program that is executed. */
struct jp_target {
    const char *path; /* NULL: the file that is open at fd */
    char *const *argv;
    char *const *envp;
    int fd;     /* the folder that a relative path starts from, or AT_FDCWD */
    int search; /* 1: a path without a slash is searched for in PATH */
};

/* Called before the calling process executes a program: writes a line to the
 * tree's file if it is known that the program will not be profiled, and why.
 * It may be static, set-uid, for another C library or machine, or have no
 * library or flags in its environment.  The program's memory is read without
 * faulting; no thread-local memory is touched. */
void jp_target_tell(const struct jp_target *target);

/* Tells of a target as jp_target_tell does, after another process, pid, was
 * made to execute it. */
void jp_target_tell_of(const struct jp_target *target, uint32_t pid);

/* Whether the program will load the library, as far as that can be known: its
 * file and the library's are in sight, and nothing is known that
 * jp_target_tell would tell. */
int jp_target_loads(const struct jp_target *target);

/* Called by the constructor, once. */
void jp_target_begin(void);

/* Adds the library to the target's LD_PRELOAD if the program that executes it,
 * often a script, has put others in its place: if JPROF_FLAGS is there, and
 * the new program can load it.  A variable that was removed or is empty stays
 * so: that keeps a program from being profiled.  The changed environment is on
 * the caller's stack. */
#define JP_TARGET_PRELOAD(target)                                              \
    do {                                                                       \
        const size_t room_ = jp_target_room(target);                           \
        if (room_ != 0)                                                        \
            jp_target_add(target, __builtin_alloca(room_), room_);             \
    } while (0)

/* For JP_TARGET_PRELOAD: the bytes that are needed, 0 where nothing is to be
 * added; and the change, in so much room. */
size_t jp_target_room(const struct jp_target *target);
void jp_target_add(struct jp_target *target, char **room, size_t size);

#endif
