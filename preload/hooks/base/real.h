/* SPDX-License-Identifier: MIT
 *
 * Stubs: the functions that the program calls by the C library's names.  Where
 * there is no profile, or the calling thread is not one of the profiled
 * process (sig/state/gate.h), a stub leads straight on to the C library's
 * function; else to the hook behind it.  Before that is known, it touches
 * nothing of the thread's memory.
 * Runs in: any thread, whatever its thread pointer is. */
#ifndef JP_REAL_H
#define JP_REAL_H

#include <stddef.h>

#include "sig/arch/arch.h"

#define JP_EXPORT __attribute__((visibility("default")))
#define JP_HIDDEN __attribute__((visibility("hidden")))

/* One stub.  The assembler knows the first two members (JP_ARCH_GATE).  The
 * size is a power of two, so that the stubs of all files make an array. */
struct jp_entry_stub {
    void *_Atomic real; /* the next definition in the link order */
    void *hook;
    const char *name; /* NAME, or NAME@VERSION of an older version */
    void *instead;    /* used where no object defines the name, or NULL */
} __attribute__((aligned(32)));

/* What `real` is at first: code that looks the function up and goes on
 * there. */
extern const char jp_entry_stub_seek[] JP_HIDDEN;

/* Looks a stub's function up: the next definition of its name in the version
 * that it names (else in the default one), else the C library's.  Never returns
 * NULL: for a broken libc that has none, says so on stderr and returns a
 * function that fails with ENOSYS.  Takes no lock and touches no thread-local
 * memory if one of the objects that the program was loaded with has it. */
void *jp_real(struct jp_entry_stub *stub);

/* Looks all stubs' functions up, since some hooks may be called in a signal
 * handler.  One that is not found is looked up again when it is called.
 * Called by the constructor in a process that is profiled. */
void jp_real_all(void);

/* The C library's own function of this name, also where another library, as
 * libfaketime or a sanitizer's runtime, defines the name before it.  NULL: the
 * C library was not found, or chooses the function at run time. */
void *jp_real_of_libc(const char *name);

/* Defines the hook of a function of the C library and the stub to it:
 *     JP_HOOK(int, name, (int first, ...)) { body }
 * JP_HOOK_INSTEAD: also names a function for programs where no object has
 * it. */
#define JP_HOOK(result, name, parameters)                                      \
    JP_HOOK_INSTEAD(result, name, parameters, NULL)
#define JP_HOOK_INSTEAD(result, name, parameters, instead)                     \
    JP_HOOK_FULL(result, name, parameters, jp_entry_stub_seek, instead)

/* JP_HOOK_EARLY: also names what the stub leads to before the constructor has
 * run; who asks for that sets its `real` to jp_entry_stub_seek afterwards. */
#define JP_HOOK_EARLY(result, name, parameters, early)                         \
    JP_HOOK_FULL(result, name, parameters, early, NULL)

#define JP_HOOK_FULL(result, name, parameters, first, instead)                 \
    JP_HOOK_AT(result, name, parameters, first, instead, #name,                \
               JP_ARCH_ENTRY_STUB(#name, #name))

/* JP_HOOK_OLD: the hook of an older version of the function `name`, a function
 * of its own in the C library ("Versions" in doc/interposed.md); `id` is what
 * JP_REAL calls it.  The version, a string, stands in preload/exported-symbols,
 * too. */
#define JP_HOOK_OLD(result, id, name, version, parameters, instead)            \
    JP_HOOK_AT(result, id, parameters, jp_entry_stub_seek, instead,            \
               #name "@" version,                                              \
               JP_ARCH_ENTRY_STUB("jp_also_" #id, #id)                         \
                   JP_SYMVER("jp_also_" #id, #name, version))

/* One more version of a hook's function, which is the same function: one more
 * way to its stub. */
#define JP_ALSO(name, version)                                                 \
    __asm__(JP_ARCH_ENTRY_STUB("jp_also_" #name "_" version, #name)            \
                JP_SYMVER("jp_also_" #name "_" version, #name, version))

/* Exports `symbol` as a version of `name` that is not the default one.  (The
 * linker drops a default version that has the same address.) */
#define JP_SYMVER(symbol, name, version)                                       \
    ".symver " symbol "," name "@" version "\n"

#define JP_HOOK_AT(result, id, parameters, first, instead, name, stub)         \
    JP_HIDDEN __attribute__((used)) result jp_hook_##id parameters;            \
    extern struct jp_entry_stub jp_entry_stub_##id JP_HIDDEN;                  \
    struct jp_entry_stub jp_entry_stub_##id                                    \
        __attribute__((section("jp_entry_stubs"), used)) = {                   \
            (void *)(first), (void *)jp_hook_##id, name, (void *)(instead)};   \
    __asm__(stub);                                                             \
    result jp_hook_##id parameters

/* Declares a pointer `real` to the function behind a stub.  Its type is that of
 * the hook, which the file has defined above. */
#define JP_REAL(name) JP_REAL_AS(__typeof__(jp_hook_##name), name)

/* The same for a function whose hook is elsewhere: the type is the one that
 * the C library's header declares. */
#define JP_REAL_DECLARED(name) JP_REAL_AS(__typeof__(name), name)

#define JP_REAL_AS(type, name)                                                 \
    extern struct jp_entry_stub jp_entry_stub_##name JP_HIDDEN;                \
    void *at_ = jp_entry_stub_##name.real;                                     \
    if (at_ == (const void *)jp_entry_stub_seek)                               \
        at_ = jp_real(&jp_entry_stub_##name);                                  \
    type *real;                                                                \
    *(void **)&real = at_;

/* syscall(2) as it is called: the number and up to six arguments. */
typedef long jp_syscall_function(long, long, long, long, long, long, long);

#endif
