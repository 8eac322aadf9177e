/* SPDX-License-Identifier: MIT
 *
 * Doors: the functions that the program calls by the C library's names.  Where
 * there is no profile, or the calling thread is not one of the profiled
 * process (sig/state/gate.h), a door leads straight on to the C library's
 * function; else to the hook behind it.  Before that is known, it touches
 * nothing of the thread's memory.
 * Runs in: any thread, whatever its thread pointer is. */
#ifndef JP_REAL_H
#define JP_REAL_H

#include <stddef.h>

#include "sig/arch/arch.h"

#define JP_EXPORT __attribute__((visibility("default")))
#define JP_HIDDEN __attribute__((visibility("hidden")))

/* One door.  The assembler knows the first two members (JP_ARCH_GATE).  The
 * size is a power of two, so that the doors of all files make an array. */
struct jp_door {
    void *_Atomic real; /* the next definition in the link order */
    void *hook;
    const char *name;
    void *instead; /* used where no object defines the name, or NULL */
} __attribute__((aligned(32)));

/* What `real` is at first: code that looks the function up and goes on
 * there. */
extern const char jp_door_seek[] JP_HIDDEN;

/* Looks a door's function up: the next definition of its name, else the C
 * library's.  Never returns NULL: for a broken libc that has none, says so on
 * stderr and returns a function that fails with ENOSYS.  Takes no lock and
 * touches no thread-local memory if one of the objects that the program was
 * loaded with has the name. */
void *jp_real(struct jp_door *door);

/* Looks a name up in the C library behind this one, past what a sanitizer's
 * runtime interposes.  NULL: it has none, or one that is chosen at run time.
 * Takes no lock and touches no thread-local memory. */
void *jp_real_libc(const char *name);

/* Looks all doors' functions up, since some hooks may be called in a signal
 * handler.  One that is not found is looked up again when it is called.
 * Called by the constructor in a process that is profiled. */
void jp_real_all(void);

/* Defines the hook of a function of the C library and the door to it:
 *     JP_HOOK(int, name, (int first, ...)) { body }
 * JP_HOOK_INSTEAD: also names a function for programs where no object has
 * it. */
#define JP_HOOK(result, name, parameters)                                      \
    JP_HOOK_INSTEAD(result, name, parameters, NULL)
#define JP_HOOK_INSTEAD(result, name, parameters, instead)                     \
    JP_HOOK_FULL(result, name, parameters, jp_door_seek, instead)

/* JP_HOOK_EARLY: also names what the door leads to before the constructor has
 * run; who asks for that sets the door's `real` to jp_door_seek afterwards. */
#define JP_HOOK_EARLY(result, name, parameters, early)                         \
    JP_HOOK_FULL(result, name, parameters, early, NULL)

#define JP_HOOK_FULL(result, name, parameters, first, instead)                 \
    JP_HIDDEN __attribute__((used)) result jp_hook_##name parameters;          \
    extern struct jp_door jp_door_##name JP_HIDDEN;                            \
    struct jp_door jp_door_##name __attribute__((section("jp_doors"),          \
                                                 used)) = {                    \
        (void *)(first), (void *)jp_hook_##name, #name, (void *)(instead)};    \
    __asm__(JP_ARCH_DOOR(#name));                                              \
    result jp_hook_##name parameters

/* Declares a pointer `real` to the function behind a door.  Its type is that of
 * the hook, which the file has defined above. */
#define JP_REAL(name) JP_REAL_AS(__typeof__(jp_hook_##name), name)

/* The same for a function whose hook is elsewhere: the type is the one that
 * the C library's header declares. */
#define JP_REAL_DECLARED(name) JP_REAL_AS(__typeof__(name), name)

#define JP_REAL_AS(type, name)                                                 \
    extern struct jp_door jp_door_##name JP_HIDDEN;                            \
    void *at_ = jp_door_##name.real;                                           \
    if (at_ == (const void *)jp_door_seek)                                     \
        at_ = jp_real(&jp_door_##name);                                        \
    type *real;                                                                \
    *(void **)&real = at_;

/* syscall(2) as it is called: the number and up to six arguments. */
typedef long jp_syscall_function(long, long, long, long, long, long, long);

#endif
