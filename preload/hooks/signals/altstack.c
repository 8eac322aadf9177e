/* SPDX-License-Identifier: MIT
 *
 * The sigaltstack hook.  The kernel puts a signal's frame on the alternate
 * stack, where the frame may be larger than the stack itself, and jprof's
 * handler comes on top of what a handler of the program's uses there.  A stack
 * without room for that is replaced by one of jprof's (a stand-in), and the
 * program is told of its own.  So is one that another thread has already:
 * Varnish gives all its threads the same one, for a handler that ends the
 * process, but jprof's handler runs in several threads at once.  A thread with
 * a small stack has one of jprof's from the start: its own stack may have room
 * for the frames of the program's signals and no other.  So has the first
 * thread in valgrind: the frame of a handler with SA_ONSTACK does not make its
 * stack grow there, but ends the process (ML_(sf_maybe_extend_stack) in
 * coregrind/m_sigframe/sigframe-common.c).
 *
 * A thread's stack can be changed by the thread alone.  So the function is
 * jprof's before jprof's constructor, too, when constructors of other libraries
 * may have begun threads.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "altstack.h"
#include "earlystack.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "sig/arch/arch.h"
#include "sig/os/sys.h"
#include "sig/state/gate.h"
#include "sig/state/process.h"

/* Bytes for jprof's handler on its rarest ways: doc/DESIGN.md, invariant 3. */
#define HANDLER_BYTES 4096U
/* Bytes that a handler of the program's may need besides the kernel's frame. */
#define PROGRAM_BYTES 8192U
/* MINSIGSTKSZ of the ABI, where the kernel does not say (it does since 5.14,
 * getauxval(3)). */
#define FRAME_BYTES 2048U

/* The thread's stand-ins.  Only the kernel knows which is in use: that also
 * changes when a handler returns. */
#define STANDINS 4
struct standin {
    void *memory; /* jprof's stack, or NULL */
    size_t size;
    void *program; /* the program's stack that it stands in for */
    size_t program_size;
    int shared; /* another thread has that stack, too */
};
static __thread struct standin standins[STANDINS];
static __thread unsigned next_standin;

/* A thread's stack is small below SMALL_BYTES and SMALL_FRAMES frames of the
 * kernel's: a few such frames are then a large part of it. */
#define SMALL_BYTES 65536U
#define SMALL_FRAMES 8U

/* The alternate stack of such a thread, while the program has set none
 * there.  A handler of the program's with SA_ONSTACK runs on it, too.
 * (SS_AUTODISARM would not do: the kernel then has no alternate stack in any
 * handler, also not in those that run on another stack, signal_delivered.) */
static __thread struct {
    void *memory; /* NULL: none */
    size_t size;
} ours;

static size_t frame_bytes(void)
{
    size_t bytes = getauxval(AT_MINSIGSTKSZ);
    return bytes > FRAME_BYTES ? bytes : FRAME_BYTES;
}

/* The bytes that an alternate stack needs besides those that the program
 * uses. */
static size_t extra_bytes(void)
{
    return 2 * frame_bytes() + HANDLER_BYTES + PROGRAM_BYTES;
}

static size_t whole_pages(size_t size)
{
    const size_t page = getauxval(AT_PAGESZ);
    return (size + page - 1) & ~(page - 1);
}

/* Tells other threads which alternate stack this one has.  (The handler does so
 * for a thread that had one before jprof knew the thread.) */
static void publish(struct jp_thread *thread, const stack_t *stack)
{
    const int none = (stack->ss_flags & SS_DISABLE) != 0;
    const uint64_t low = none ? 0 : (uint64_t)(uintptr_t)stack->ss_sp;
    if (thread == NULL)
        return;
    atomic_store(&thread->hooks.alternate_known, 1);
    atomic_store(&thread->hooks.alternate_low, low);
    atomic_store(&thread->hooks.alternate_high,
                 none ? 0 : low + stack->ss_size);
    jp_earlystack_note(thread->tid, 0, 0);
}

/* Whether another live thread has some of this thread's alternate stack, which
 * was published before: of two threads that take one at the same time, at least
 * one sees the other. */
static int is_shared(const struct jp_thread *thread)
{
    if (thread == NULL)
        return 0;
    const uint64_t low = atomic_load(&thread->hooks.alternate_low);
    const uint64_t high = atomic_load(&thread->hooks.alternate_high);
    const uint32_t used = jp_threads_used_sig();
    for (uint32_t i = 0; i < used; i++) {
        const struct jp_thread *other = jp_thread_at_sig(i);
        if (other != thread && atomic_load(&other->state) >= JP_THREAD_IDLE &&
            other->tid != thread->tid &&
            atomic_load(&other->hooks.alternate_low) < high &&
            low < atomic_load(&other->hooks.alternate_high))
            return 1;
    }
    return jp_earlystack_has(thread->tid, low, high);
}

void jp_altstack_forked(void)
{
    stack_t now;
    jp_earlystack_forked();
    if (jp_sys_sig(SYS_sigaltstack, 0, (long)&now, 0, 0, 0) == 0)
        publish(jp_local_thread(), &now);
}

static int is_small(const stack_t *stack)
{
    return stack->ss_size >= JP_ARCH_LEAST_STACK &&
           stack->ss_size < extra_bytes();
}

/* Whether a stack is this thread's `ours`.  A stack of NULL is answered first:
 * a thread of another process, which has none set, must not touch `ours`. */
static int is_ours(const stack_t *stack)
{
    return stack->ss_sp != NULL && stack->ss_sp == ours.memory;
}

static stack_t own_stack(void)
{
    return (stack_t){.ss_sp = ours.memory, .ss_size = ours.size};
}

/* Gives a thread that has no alternate stack one of jprof's.  room: bytes for
 * frames of the program's signals that come while jprof's handler runs, which
 * are on this stack until they are put off.  Without memory, the thread's own
 * stack will have to do. */
static void give_ours(uint64_t room)
{
    ours.size = whole_pages(room + extra_bytes());
    ours.memory = jp_sys_stack_sig(ours.size);
    if (ours.memory == NULL)
        return;
    const stack_t stack = own_stack();
    if (jp_sys_sig(SYS_sigaltstack, (long)&stack, 0, 0, 0, 0) != 0) {
        jp_sys_unmap_sig(ours.memory, ours.size);
        ours.memory = NULL;
    }
}

void jp_altstack_begin(uint64_t room)
{
    stack_t now;
    /* As many frames as the thread's own stack has room for. */
    if (room != 0 && room < SMALL_BYTES + SMALL_FRAMES * frame_bytes() &&
        jp_sys_sig(SYS_sigaltstack, 0, (long)&now, 0, 0, 0) == 0 &&
        (now.ss_flags & SS_DISABLE) != 0)
        give_ours(room);
}

static struct standin *find(const void *memory)
{
    for (unsigned i = 0; memory != NULL && i < STANDINS; i++) {
        if (standins[i].memory == memory)
            return &standins[i];
    }
    return NULL;
}

/* The stand-in for the program's stack: the same as last time, else an empty
 * one, else the next that the kernel does not use now. */
static struct standin *choose(const stack_t *stack, const void *in_use)
{
    struct standin *empty = NULL;
    for (unsigned i = 0; i < STANDINS; i++) {
        struct standin *at = &standins[i];
        if (at->memory != NULL && at->program == stack->ss_sp &&
            at->program_size == stack->ss_size)
            return at;
        if (at->memory == NULL && empty == NULL)
            empty = at;
    }
    if (empty != NULL)
        return empty;
    struct standin *at = &standins[next_standin++ % STANDINS];
    return at->memory != in_use ? at : &standins[next_standin++ % STANDINS];
}

/* Makes a stand-in large enough for the program's stack.  Returns 0 when there
 * is no memory. */
static int fill(struct standin *standin, const stack_t *stack, int shared)
{
    const size_t size = whole_pages(stack->ss_size + extra_bytes());
    if (standin->memory != NULL && standin->size < size) {
        jp_sys_unmap_sig(standin->memory, standin->size);
        standin->memory = NULL;
    }
    if (standin->memory == NULL) {
        standin->memory = jp_sys_stack_sig(size);
        standin->size = size;
    }
    standin->program = stack->ss_sp;
    standin->program_size = stack->ss_size;
    standin->shared = shared;
    return standin->memory != NULL;
}

/* Makes of a stack that the program sets the one that the kernel is to have. */
static void stand_in(stack_t *wanted, int shared, const void *in_use)
{
    if (!is_small(wanted) && (!shared || wanted->ss_size < JP_ARCH_LEAST_STACK))
        return;
    struct standin *standin = choose(wanted, in_use);
    /* Without memory, the program's own will have to do. */
    if (fill(standin, wanted, shared)) {
        wanted->ss_sp = standin->memory;
        wanted->ss_size = standin->size;
    }
}

/* Whether the process has other threads, which jprof may not know: /proc has a
 * folder for each (proc(5)), each a link to the folder above it, which has two
 * more. */
static int has_others(void)
{
    struct stat info;
    return jp_sys_stat_sig("/proc/self/task", 1, &info) != 0 ||
           info.st_nlink > 3;
}

void jp_altstack_known(void)
{
    stack_t now;
    struct jp_thread *thread = jp_local_thread();
    if (jp_sys_sig(SYS_sigaltstack, 0, (long)&now, 0, 0, 0) != 0)
        return;
    publish(thread, &now);
    if ((now.ss_flags & SS_DISABLE) != 0 && jp_process.in_valgrind)
        give_ours(SMALL_BYTES);
    if ((now.ss_flags & (SS_DISABLE | SS_ONSTACK)) != 0 ||
        find(now.ss_sp) != NULL)
        return;
    stack_t wanted = now;
    stand_in(&wanted, has_others(), NULL);
    if (wanted.ss_sp != now.ss_sp &&
        jp_sys_sig(SYS_sigaltstack, (long)&wanted, 0, 0, 0, 0) == 0)
        publish(thread, &wanted);
}

static int set(__typeof__(sigaltstack) *real, const stack_t *stack,
               stack_t *old)
{
    stack_t now, wanted = *stack;
    if (real(NULL, &now) != 0)
        return -1;
    /* A vfork child has an alternate stack of its own; the variables here are
     * its parent's. */
    if (jp_local_is_vfork_child())
        return real(&wanted, old);
    const int disable = (wanted.ss_flags & SS_DISABLE) != 0;
    /* The program believes that there is no alternate stack.  It may also set
     * one in a handler that runs on jprof's; the kernel would forget that when
     * the handler returns. */
    if (is_ours(&now) && (disable || (now.ss_flags & SS_ONSTACK) != 0)) {
        *old = now;
        return 0;
    }
    if (disable && ours.memory != NULL)
        wanted = own_stack();
    if ((now.ss_flags & SS_ONSTACK) != 0)
        return real(&wanted, old);
    struct jp_thread *thread = jp_local_thread();
    publish(thread, &wanted);
    if (!disable)
        stand_in(&wanted, is_shared(thread), now.ss_sp);
    const int result = real(&wanted, old);
    publish(thread, result == 0 ? &wanted : &now);
    return result;
}

/* Turns the kernel's stack into the one that the program is to see. */
static stack_t shown(stack_t kernel)
{
    const struct standin *standin = find(kernel.ss_sp);
    if (is_ours(&kernel))
        return (stack_t){.ss_flags = SS_DISABLE};
    if (standin != NULL) {
        kernel.ss_sp = standin->program;
        kernel.ss_size = standin->program_size;
    }
    return kernel;
}

static _Atomic int has_early; /* 1: a thread got a stand-in early */

/* sigaltstack(2), past the C library and what stands before it. */
static int change(const stack_t *stack, stack_t *old)
{
    const long result =
        jp_sys_sig(SYS_sigaltstack, (long)stack, (long)old, 0, 0, 0);
    if (result == 0)
        return 0;
    errno = (int)-result;
    return -1;
}

/* As jp_earlystack_note. */
static int note(uint32_t tid, const stack_t *stack)
{
    const uint64_t low = (uint64_t)(uintptr_t)stack->ss_sp;
    return jp_earlystack_note(
        tid, low,
        (stack->ss_flags & SS_DISABLE) != 0 ? 0 : low + stack->ss_size);
}

/* Sets a stack before the constructor, as set(); of what threads have, only
 * what they set in this way is known. */
static int set_early(const stack_t *stack, stack_t *old)
{
    stack_t now, wanted = *stack;
    const uint32_t tid = jp_sys_gettid_sig();
    const uint64_t low = (uint64_t)(uintptr_t)wanted.ss_sp;
    if (change(NULL, &now) != 0)
        return -1;
    if ((now.ss_flags & SS_ONSTACK) != 0)
        return change(&wanted, old);
    const int noted = note(tid, &wanted);
    if ((wanted.ss_flags & SS_DISABLE) == 0)
        stand_in(&wanted,
                 !noted || jp_earlystack_has(tid, low, low + wanted.ss_size),
                 now.ss_sp);
    const int result = change(&wanted, old);
    note(tid, result == 0 ? &wanted : &now);
    if (result == 0 && wanted.ss_sp != stack->ss_sp)
        atomic_store(&has_early, 1);
    return result;
}

/* Whether the process is to be profiled, as far as that is known: in the
 * executable's .preinit_array, the C library has no environment yet. */
static int may_be_wanted(void)
{
    return environ == NULL || getenv(JP_ENV_FLAGS) != NULL;
}

/* What the program calls before the constructor.  In a child with a thread
 * pointer that leads nowhere, does what the C library does. */
static int early(const stack_t *stack, stack_t *old)
{
    stack_t before;
    jp_gate_init_sig(getauxval(AT_HWCAP2));
    if (jp_owner != NULL || !jp_gate_sound_sig())
        return change(stack, old);
    const int result = stack != NULL && may_be_wanted()
                           ? set_early(stack, &before)
                           : change(stack, &before);
    if (result == 0 && old != NULL)
        *old = shown(before);
    return result;
}

JP_HOOK_EARLY(int, sigaltstack, (const stack_t *stack, stack_t *old), early)
{
    JP_REAL(sigaltstack)
    stack_t before;
    const int result =
        stack != NULL ? set(real, stack, &before) : real(NULL, &before);
    if (result == 0 && old != NULL)
        *old = shown(before);
    return result;
}

/* (A process that is not profiled goes on to be told of its own stacks.) */
void jp_altstack_constructed(void)
{
    if (jp_owner != NULL || !atomic_load(&has_early))
        jp_entry_stub_sigaltstack.real = (void *)jp_entry_stub_seek;
}

void jp_altstack_show(const void *frame)
{
    for (unsigned i = 0; i < STANDINS; i++) {
        const struct standin *at = &standins[i];
        const uintptr_t offset = (uintptr_t)frame - (uintptr_t)at->memory;
        /* (What another thread has there is its own.) */
        if (at->memory == NULL || at->shared || offset >= at->size)
            continue;
        size_t used = at->size - offset;
        if (used > at->program_size)
            used = at->program_size;
        memcpy((char *)at->program + at->program_size - used,
               (const char *)at->memory + at->size - used, used);
    }
}

/* The thread is not sampled any more, and goes on with its own stack. */
void jp_altstack_end(void)
{
    stack_t now;
    /* By jp_sys_sig: a filter of the program's may forbid the call. */
    if (jp_sys_sig(SYS_sigaltstack, 0, (long)&now, 0, 0, 0) != 0 ||
        (now.ss_flags & SS_ONSTACK) != 0)
        return;
    const struct standin *standin = find(now.ss_sp);
    const int none = is_ours(&now);
    if (none || standin != NULL) {
        now.ss_sp = none ? NULL : standin->program;
        now.ss_size = none ? 0 : standin->program_size;
        now.ss_flags = none ? SS_DISABLE : now.ss_flags;
        if (jp_sys_sig(SYS_sigaltstack, (long)&now, 0, 0, 0, 0) != 0)
            return;
    }
    for (unsigned i = 0; i < STANDINS; i++) {
        if (standins[i].memory != NULL)
            jp_sys_unmap_sig(standins[i].memory, standins[i].size);
        standins[i].memory = NULL;
    }
    if (ours.memory != NULL)
        jp_sys_unmap_sig(ours.memory, ours.size);
    ours.memory = NULL;
}
