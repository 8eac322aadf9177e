/* SPDX-License-Identifier: MIT
 *
 * The walk that follows the cache of the one before gives the same frames as
 * one without a cache, whatever has changed on the stack in between.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <alloca.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "in_range.h"
#include "../../preload/sig/state/config.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/state/thread.h"
#include "../../preload/sig/unwind/unwind.h"

#define NOINLINE __attribute__((noinline))
#define DEPTH_MAX 60
#define CHECKS 20000

static struct jp_thread *thread;
static unsigned seed = 1;
static volatile int checks, after;
static uint64_t kept[JP_DEPTH_MAX];
static uint64_t deepest;
static int rises;

static unsigned chance(unsigned of)
{
    return (unsigned)rand_r(&seed) % of;
}

/* Each step of the cache leads up the stack; the last one ends it. */
static void check_trail(const struct jp_walk_cache *cache)
{
    for (uint32_t i = cache->first; i < JP_WALK_CACHE; i++) {
        const struct jp_walk_step *step = &cache->steps[i];
        assert_true(step[1].sp > step->sp);
        assert_int_equal(step->ra_at == 0, i == JP_WALK_CACHE - 1);
        if (jp_config.walker != JP_WALKER_FP && step->ra_at != 0)
            assert_uint_in_range(step->ra_at, step->sp, step[1].sp - 1);
    }
}

/* Walks twice: along the cache, and without one. */
static void compare(int signal, siginfo_t *info, void *context)
{
    struct jp_buffer *buffer = thread->buffer;
    (void)signal, (void)info;
    enum jp_reason reason = jp_walk_sig(thread, buffer, context);
    const uint32_t depth = buffer->depth, gap = buffer->gap;
    memcpy(kept, buffer->frames, depth * sizeof(*kept));
    check_trail(&buffer->cache);
    /* By turns, the next walk finds the cache of this one or a fresh one. */
    static struct jp_walk_cache before;
    before = buffer->cache;
    buffer->cache.ready = 0;
    assert_int_equal(jp_walk_sig(thread, buffer, context), reason);
    assert_int_equal(buffer->depth, depth);
    assert_int_equal(buffer->gap, gap);
    assert_memory_equal(buffer->frames, kept, depth * sizeof(*kept));
    /* A chain of frame pointers may end in a library. */
    if (jp_config.walker != JP_WALKER_FP || gap != 0)
        assert_int_equal(reason, gap != 0 ? JP_REASON_DEPTH : JP_REASON_ROOT);
    if (checks % 2 == 0)
        buffer->cache = before;
    deepest = depth > deepest ? depth : deepest;
    checks++;
}

/* What the walker by frame pointers starts from. */
static void set_registers(ucontext_t *context, uint64_t pc, uint64_t sp,
                          uint64_t fp)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    context->uc_mcontext.gregs[REG_RBP] = (greg_t)fp;
#else
    context->uc_mcontext.pc = pc;
    context->uc_mcontext.sp = sp;
    context->uc_mcontext.regs[29] = fp;
#endif
}

NOINLINE static void go(unsigned depth);

NOINLINE static void small(unsigned depth)
{
    go(depth);
    after++;
}

NOINLINE static void large(unsigned depth)
{
    volatile char room[400];
    room[depth] = 1;
    go(depth);
    after += room[depth];
}

NOINLINE static void by_frame_pointer(unsigned depth)
{
    volatile char *room = alloca(16 + chance(200));
    room[0] = 1;
    go(depth);
    after += room[0];
}

static int compare_in_qsort(const void *a, const void *b)
{
    static unsigned left;
    (void)a, (void)b;
    if (left++ % 2 == 0)
        go(DEPTH_MAX - 3);
    return 0;
}

NOINLINE static void through_libc(unsigned depth)
{
    int two[2] = {1, 2};
    (void)depth;
    qsort(two, 2, sizeof(*two), compare_in_qsort);
    after += two[0];
}

static void in_handler(int signal)
{
    (void)signal;
    go(DEPTH_MAX - 4);
    after++;
}

NOINLINE static void through_handler(unsigned depth)
{
    (void)depth;
    raise(SIGWINCH);
    after++;
}

NOINLINE static void go(unsigned depth)
{
    static void (*const ways[])(unsigned) = {
        small, large,        by_frame_pointer, small,
        large, through_libc, through_handler};
    if (depth >= DEPTH_MAX || checks >= CHECKS) {
        raise(SIGURG);
        return;
    }
    /* Some calls one after another from here: the frames above stay. */
    for (unsigned calls = 1 + chance(3); calls > 0; calls--) {
        if (chance(4) == 0)
            raise(SIGURG);
        ways[chance(rises++ % 50 == 0 ? 7 : 5)](depth + 1 + chance(8));
    }
    after++;
}

static void test_trail(void **state)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};
    (void)state;
    raise(SIGPROF); /* makes the log, the map, the buffer */
    thread = jp_thread_by_tid_sig((uint32_t)syscall(SYS_gettid));
    assert_non_null(thread);
    assert_non_null(thread->buffer);
    action.sa_sigaction = compare;
    sigaction(SIGURG, &action, NULL);
    action.sa_flags = 0;
    action.sa_handler = in_handler;
    sigaction(SIGWINCH, &action, NULL);
    while (checks < CHECKS)
        go(0);
    assert_true(deepest > 20);
}

/* A chain that changes anywhere between two walks, and so its end. */
static void test_rewritten(void **state)
{
    static uint64_t stack[512];
    static struct jp_thread own;
    ucontext_t context = {0};
    (void)state;
    own = *thread;
    own.stack.low = (uint64_t)stack;
    own.stack.high = (uint64_t)(stack + 512);
    own.stack.is_main = 0;
    own.adopted = 0;
    own.stack.bounds_known = 1;
    struct jp_thread *const before = thread;
    jp_config.walker = JP_WALKER_FP;
    thread->buffer->cache.ready = 0;
    const uint64_t code[3] = {(uint64_t)go, (uint64_t)small, (uint64_t)large};
    thread = &own;
    for (int turn = 0; turn < 60000; turn++) {
        /* Now and then a new chain, else one word of the old one. */
        if (turn % 50 == 0) {
            memset(stack, 0, sizeof(stack));
            unsigned at = 8;
            while (at < 500) {
                const unsigned next = at + 2 + chance(20);
                stack[at] = (uint64_t)(stack + next);
                stack[at + 1] = code[chance(3)] + 4 + chance(2);
                at = next;
            }
        } else {
            const unsigned at = chance(512), to = chance(512);
            stack[at] = chance(3) == 0 ? (uint64_t)(stack + (to < 99 ? 8 : to))
                        : chance(2) == 0 ? code[chance(3)] + 4
                                         : chance(2) * stack[at];
        }
        set_registers(&context, code[0] + 4, (uint64_t)(stack + chance(3)),
                      (uint64_t)(stack + 8));
        compare(0, NULL, &context);
    }
    thread = before;
}

/* Deeper than the cache is long, and than what is kept of a stack. */
NOINLINE static void straight_down(unsigned depth)
{
    if (depth > 0)
        straight_down(depth - 1);
    else
        for (int i = 0; i < 3; i++)
            raise(SIGURG);
    after++;
}

static void test_deep(void **state)
{
    (void)state;
    for (unsigned depth = 100; depth < 1200; depth += 13)
        straight_down(depth);
    assert_int_equal(deepest, jp_config.depth);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/jprof-walk-XXXXXX", flags[128];
    if (getenv("JPROF_FLAGS") == NULL) {
        if (mkdtemp(folder) == NULL)
            return 99;
        snprintf(flags, sizeof(flags),
                 "JP_START JP_PERIOD=3600 JP_FILENAME=%s/log", folder);
        setenv("JPROF_FLAGS", flags, 1);
        setenv("WALK_FOLDER", folder, 1);
        execv("/proc/self/exe", argv);
        return 99;
    }
    (void)argc;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trail),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_rewritten),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    const char *made = getenv("WALK_FOLDER");
    char path[128];
    for (int i = 0; made != NULL && i < 2; i++) {
        snprintf(path, sizeof(path), "%s/log%s", made, i == 0 ? "" : "-map");
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/map", made != NULL ? made : "");
    unlink(path);
    if (made != NULL)
        rmdir(made);
    return failed;
}
