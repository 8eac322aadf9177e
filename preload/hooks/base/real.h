/* SPDX-License-Identifier: MIT
 *
 * The doors: what the program calls by the C library's names.  A door looks at
 * nothing of the thread's memory before it knows whose thread it is; where
 * there is no profile, or the thread is none of the profiled process's with
 * thread-local memory of its own (sig/gate.h), it leads straight on to the C
 * library's function.  Else it leads to the hook behind it.
 * Runs in: any thread, whatever its thread pointer is. */
#ifndef JP_REAL_H
#define JP_REAL_H

#include <stddef.h>

#include "sig/arch/arch.h"

#define JP_EXPORT __attribute__((visibility("default")))
#define JP_HIDDEN __attribute__((visibility("hidden")))

/* One door.  The assembler knows the first two places (JP_ARCH_GATE); the
 * size is a power of two, so that those of all files make an array. */
struct jp_door {
    void *_Atomic real; /* the next definition in the link order */
    void *hook;
    const char *name;
    void *instead; /* where no object has the name, or NULL */
} __attribute__((aligned(32)));

/* What `real` is at first: looks it up, and goes on there. */
extern const char jp_door_seek[] JP_HIDDEN;

/* The next definition of a door's name, else the C library's.  If there is
 * none, which would be a broken libc, says so on stderr and returns a function
 * that fails with ENOSYS.  Never NULL.  Neither a lock nor thread-local memory
 * is touched where the name is found in one of the objects that the program
 * was loaded with. */
void *jp_real(struct jp_door *door);

/* Looks them all up, for a process that is to be profiled: some of the hooks
 * may be called in a signal handler.  What is not found is looked for again
 * when it is called. */
void jp_real_all(void);

/* Defines the hook of a function of the C library's and the door before it:
 *     JP_HOOK(int, name, (int first, ...)) { body }
 * JP_HOOK_INSTEAD: with a function for programs in which nobody has it. */
#define JP_HOOK(result, name, parameters)                                      \
    JP_HOOK_INSTEAD(result, name, parameters, NULL)
#define JP_HOOK_INSTEAD(result, name, parameters, instead)                     \
    JP_HIDDEN __attribute__((used)) result jp_hook_##name parameters;          \
    extern struct jp_door jp_door_##name JP_HIDDEN;                            \
    struct jp_door jp_door_##name                                              \
        __attribute__((section("jp_doors"), used)) = {                         \
            (void *)jp_door_seek, (void *)jp_hook_##name, #name,               \
            (void *)(instead)};                                                \
    __asm__(JP_ARCH_DOOR(#name));                                              \
    result jp_hook_##name parameters

/* Declares a pointer `real` to the function behind a door. */
#define JP_REAL(type, name)                                                    \
    extern struct jp_door jp_door_##name JP_HIDDEN;                            \
    void *at_ = jp_door_##name.real;                                           \
    if (at_ == (const void *)jp_door_seek)                                     \
        at_ = jp_real(&jp_door_##name);                                        \
    type *real;                                                                \
    *(void **)&real = at_;

/* syscall(2) as it is called: the number and up to six arguments. */
typedef long jp_syscall_function(long, long, long, long, long, long, long);

#endif
