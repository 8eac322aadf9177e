/* SPDX-License-Identifier: MIT
 *
 * The sigaltstack hook.  The kernel puts a signal's frame on the alternate
 * stack, where the frame may be larger than the stack itself, and jprof's
 * handler comes on top of what a handler of the program's uses there.  A stack
 * without room for that is replaced by one of jprof's (a stand-in), and the
 * program is told of its own.  A thread with a small stack has one of jprof's
 * from the start: its own stack may have room for the frames of the program's
 * signals and no other.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "altstack.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "sig/arch/arch.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

/* Bytes for jprof's handler, with some to spare: doc/DESIGN.md, invariant 3. */
#define HANDLER_BYTES 3072U
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
};
static __thread struct standin standins[STANDINS];
static __thread unsigned next_standin;

/* A thread's stack is small below SMALL_BYTES and SMALL_FRAMES frames of the
 * kernel's: a few such frames are then a large part of it. */
#define SMALL_BYTES 65536U
#define SMALL_FRAMES 8U

/* The alternate stack of a thread with a small stack, while the program has set
 * none there.  A handler of the program's with SA_ONSTACK runs on it, too.
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
    return (size + jp_process.page_size - 1) & ~(jp_process.page_size - 1);
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

/* Without memory, the thread's own stack will have to do. */
void jp_altstack_begin(uint64_t room)
{
    stack_t now;
    if (room == 0 || room >= SMALL_BYTES + SMALL_FRAMES * frame_bytes() ||
        jp_sys_sig(SYS_sigaltstack, 0, (long)&now, 0, 0, 0) != 0 ||
        (now.ss_flags & SS_DISABLE) == 0)
        return;
    /* Frames of the program's signals that come while jprof's handler runs are
     * on this stack, until they are put off: as many as the thread's own stack
     * has room for. */
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
static int fill(struct standin *standin, const stack_t *stack)
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
    return standin->memory != NULL;
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
    if (disable || !is_small(&wanted) || (now.ss_flags & SS_ONSTACK) != 0)
        return real(&wanted, old);
    struct standin *standin = choose(&wanted, now.ss_sp);
    /* Without memory, the program's own will have to do. */
    if (fill(standin, &wanted)) {
        wanted.ss_sp = standin->memory;
        wanted.ss_size = standin->size;
    }
    return real(&wanted, old);
}

JP_HOOK(int, sigaltstack, (const stack_t *stack, stack_t *old))
{
    JP_REAL(sigaltstack)
    stack_t before;
    const int result =
        stack != NULL ? set(real, stack, &before) : real(NULL, &before);
    if (result != 0 || old == NULL)
        return result;
    const struct standin *standin = find(before.ss_sp);
    if (is_ours(&before)) {
        before = (stack_t){.ss_flags = SS_DISABLE};
    } else if (standin != NULL) {
        before.ss_sp = standin->program;
        before.ss_size = standin->program_size;
    }
    *old = before;
    return 0;
}

void jp_altstack_show(const void *frame)
{
    for (unsigned i = 0; i < STANDINS; i++) {
        const struct standin *at = &standins[i];
        const uintptr_t offset = (uintptr_t)frame - (uintptr_t)at->memory;
        if (at->memory == NULL || offset >= at->size)
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
