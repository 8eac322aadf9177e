/* SPDX-License-Identifier: MIT
 *
 * The caller of code without call-frame information, by what the code does
 * until it returns: hand-made pieces of code, one for each way.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "in_range.h"
#include "../../preload/sig/arch/arch.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/code/procmaps.h"
#include "../../preload/sig/unwind/walk_ahead.h"
#include "../../preload/sig/unwind/walk_hidden.h"
#include "../../preload/sig/unwind/walk_process.h"

#ifdef __x86_64__

#define PAGE 4096U
#define CODE 64U     /* where the code under test begins */
#define CALLER 1024U /* behind a call */

static uint8_t *page;  /* of code, and one that is not there behind it */
static uint8_t *other; /* code that is far from it */
static uint64_t stack[64];
static struct jp_buffer buffer;
static const char *called = "\xff\xd1"; /* what stands before the caller */

/* Where a walk goes that is interrupted at `code`, with the return address in
 * word `at` of the stack, and the frame pointer pointing to word `fp`. */
struct outcome {
    enum jp_ahead answer;
    uint64_t pc, sp, fp; /* the last two in words of the stack */
};

static struct jp_walk walk_of_stack(void)
{
    return (struct jp_walk){.process = &jp_walk_process,
                            .buffer = &buffer,
                            .low = (uint64_t)stack,
                            .high = (uint64_t)(stack + 64),
                            .limit = (uint64_t)(stack + 64),
                            .total = 1,
                            .sure = 1};
}

/* Puts code to its place, the caller into stack[at]; the frame is interrupted
 * so far into the code. */
static struct jp_walk_frame lay(uint8_t *where, const char *code, size_t size,
                                size_t into, unsigned at, unsigned fp)
{
    struct jp_walk_frame frame = {.interrupted = 1,
                                  .pc = (uint64_t)(where + into)};
    memset(stack, 0, sizeof(stack));
    memset(page, 0xcc, PAGE);
    memcpy(where, code, size);
    memcpy(page + CALLER - 2, called, 2);
    stack[at] = (uint64_t)page + CALLER;
    frame.registers[JP_ARCH_SP] = (uint64_t)stack;
    frame.registers[JP_ARCH_FP] = (uint64_t)(stack + fp);
    return frame;
}

static struct outcome outcome_of(enum jp_ahead answer,
                                 const struct jp_walk_frame *frame)
{
    return (struct outcome){
        answer, frame->pc, (frame->registers[JP_ARCH_SP] - (uint64_t)stack) / 8,
        (frame->registers[JP_ARCH_FP] - (uint64_t)stack) / 8};
}

static struct outcome go_in(uint8_t *where, const char *code, size_t size,
                            unsigned at, unsigned fp, uint64_t rcx)
{
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame frame = lay(where, code, size, 0, at, fp);
    frame.registers[2] = rcx;
    return outcome_of(jp_walk_ahead_sig(&walk, &frame), &frame);
}

#define GO(code, at, fp) go_in(page + CODE, code, sizeof(code) - 1, at, fp, 0)

static void expect(struct outcome found, unsigned sp, unsigned fp)
{
    assert_int_equal(found.answer, JP_AHEAD_AT);
    assert_int_equal(found.pc, (uint64_t)page + CALLER);
    assert_int_equal(found.sp, sp);
    assert_int_equal(found.fp, fp);
}

/* mov %rax,%rcx; ret, and the same that has pushed. */
static void test_returns(void **state)
{
    (void)state;
    expect(GO("\x48\x89\xc1\xc3", 0, 40), 1, 40);
    expect(GO("\x5b\x41\x5c\xc3", 2, 40), 3, 40);
    expect(GO("\x48\x83\xc4\x18\xc2\x08\x00", 3, 40), 4, 40);
    expect(GO("\x48\x8d\x64\x24\x10\xc3", 2, 40), 3, 40);
}

/* A frame is made later: test; jne; push %rbp; or just now: mov %rsp,%rbp. */
static void test_frame_to_come(void **state)
{
    (void)state;
    expect(GO("\xf6\xc1\x01\x75\x40\x55\x48\x89\xe5", 0, 40), 1, 40);
    struct outcome found = GO("\x90\x48\x89\xe5\x6a\x22", 1, 40);
    assert_int_equal(found.answer, JP_AHEAD_AT);
    assert_int_equal(found.sp, 2);
}

/* mov %rbp,%rsp; pop %rbp; leave; add $16,%rsp; pop %rbp; ret. */
static void test_own_frame(void **state)
{
    (void)state;
    assert_int_equal(GO("\x48\x89\xec\x5d\xc3", 5, 4).answer, JP_AHEAD_OWN);
    assert_int_equal(GO("\x90\xc9\xc3", 5, 4).answer, JP_AHEAD_OWN);
    assert_int_equal(GO("\x48\x83\xc4\x10\x5d\xc3", 3, 2).answer, JP_AHEAD_OWN);
    /* Without a frame pointer of its own, it gives the caller's back. */
    struct outcome found = GO("\x48\x83\xc4\x10\x5d\xc3", 3, 40);
    assert_int_equal(found.answer, JP_AHEAD_AT);
    assert_int_equal(found.sp, 4);
    assert_int_equal(found.pc, (uint64_t)page + CALLER);
}

/* To another function, whose code says where the caller is; and jmp *%rcx,
 * which may go anywhere: only where a call stands before the address. */
static void test_goes_elsewhere(void **state)
{
    (void)state;
    expect(GO("\xe9\x02\x00\x00\x00\xcc\xcc\x59\xc3", 1, 40), 2, 40);
    expect(GO("\x59\xff\xe1", 1, 40), 2, 40);
    assert_int_equal(GO("\xff\xe1", 3, 40).answer, JP_AHEAD_UNKNOWN);
    called = "\x90\x90";
    assert_int_equal(GO("\x59\xff\xe1", 1, 40).answer, JP_AHEAD_UNKNOWN);
    expect(GO("\x59\xc3", 1, 40), 2, 40);
    called = "\xff\xd1";
}

/* The first instructions of V8's Sparkplug code: xor; call; leave; ret.  What
 * is called makes the frame: test; jne; pop %r15; push %rbp.  Or it does not,
 * or its caller has pushed something. */
static void test_frame_made_by_another(void **state)
{
    (void)state;
    expect(GO("\x33\xdb\xe8\x02\x00\x00\x00\xc9\xc3"
              "\xf6\xc1\x3e\x75\x40\x41\x5f\x55\x48\x89\xe5",
              0, 40),
           1, 40);
    assert_int_equal(GO("\x33\xdb\xe8\x02\x00\x00\x00\xc9\xc3"
                        "\x55\x48\x89\xe5",
                        0, 40)
                         .answer,
                     JP_AHEAD_OWN);
    assert_int_equal(GO("\x50\xe8\x02\x00\x00\x00\xc9\xc3"
                        "\x41\x5f\x55\x48\x89\xe5",
                        1, 40)
                         .answer,
                     JP_AHEAD_OWN);
}

/* A way that ends, or of which sp is not known, is left for a branch. */
static void test_other_ways(void **state)
{
    (void)state;
    /* test; je +3; call nobody; int3 | ret */
    expect(GO("\x84\xc0\x74\x06\xe8\x00\x00\x00\x00\xcc\xc3", 0, 40), 1, 40);
    /* test; jle +3; sub %r10,%rsp | ret */
    expect(GO("\x84\xc0\x7e\x04\x4c\x29\xd4\xc3\xc3", 0, 40), 1, 40);
    /* Round and round: jmp to itself. */
    assert_int_equal(GO("\xeb\xfe", 0, 40).answer, JP_AHEAD_UNKNOWN);
    assert_int_equal(GO("\x75\xfe\xeb\xfc", 0, 40).answer, JP_AHEAD_UNKNOWN);
    /* Calls take what they like. */
    assert_int_equal(GO("\x50\xe8\x00\x00\x00\x00\xc3", 0, 40).answer,
                     JP_AHEAD_UNKNOWN);
}

/* pop %rcx; lea 8(%r15),%rsp; push %rcx; ret, at each of its instructions. */
static void test_address_pushed(void **state)
{
    const uint64_t caller = (uint64_t)page + CALLER;
    (void)state;
    expect(GO("\x59\x49\x8d\x67\x08\x51\xc3", 0, 40), 1, 40);
    struct outcome found =
        go_in(page + CODE, "\x49\x8d\x67\x08\x51\xc3", 6, 9, 40, caller);
    assert_int_equal(found.answer, JP_AHEAD_AT);
    assert_int_equal(found.pc, caller);
    found = go_in(page + CODE, "\x51\xc3", 2, 9, 40, 12345);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
}

/* The same for code of which nothing is known, interrupted `into` bytes behind
 * its begin, with the frame pointer's value in word `kept`; *doubtful: a caller
 * may have been passed over. */
static struct outcome hide_in(uint8_t *where, const char *code, size_t size,
                              size_t into, unsigned at, unsigned kept,
                              unsigned fp, uint32_t *doubtful)
{
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame frame = lay(where, code, size, into, at, fp);
    stack[kept] = frame.registers[JP_ARCH_FP];
    const int found = jp_walk_hidden_sig(&walk, &frame);
    *doubtful = walk.doubtful;
    return outcome_of(found ? JP_AHEAD_AT : JP_AHEAD_UNKNOWN, &frame);
}

#define HIDE(code, into, at, kept, fp, doubtful)                               \
    hide_in(page + CODE, code, sizeof(code) - 1, into, at, kept, fp, doubtful)

/* push %rbp; mov %rsp,%rdx; push %r13; sub $16,%rsp; the next one. */
static const char pushes[] = "\x55\x48\x89\xe2\x41\x55\x48\x83\xec\x10\x90";

/* push %rbp; mov %rsp,%rbp; call; push %rax; nop. */
static const char sets[] = "\x55\x48\x89\xe5\xe8\0\0\0\0\x50\x90\x90";

/* Where the frame pointer was pushed and not set: behind each instruction. */
static void test_frame_pointer_pushed(void **state)
{
    static const unsigned into[] = {1, 4, 6, 10}, words[] = {0, 0, 1, 3};
    uint32_t doubtful;
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        expect(hide_in(page + CODE, pushes, sizeof(pushes) - 1, into[i],
                       words[i] + 1, words[i], 40, &doubtful),
               words[i] + 2, 40);
        assert_int_equal(doubtful, 0);
    }
    /* Another word is there; mov %rsp,%rbp came in between, but it points
     * elsewhere: its caller is not taken, and the stack is not whole. */
    struct outcome found = HIDE(pushes, 10, 4, 9, 40, &doubtful);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
    assert_int_equal(doubtful, 1);
    found = HIDE(sets, 9, 0, 3, 40, &doubtful);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
    assert_int_equal(doubtful, 1);
    /* It points to the word pushed: the frame is the function's own, whatever
     * is left on the stack. */
    found = HIDE(sets, 11, 0, 3, 1, &doubtful);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
    assert_int_equal(doubtful, 0);
    /* The address is not behind a call. */
    called = "\x90\x90";
    found = HIDE(pushes, 10, 4, 3, 40, &doubtful);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
    assert_int_equal(doubtful, 0);
    called = "\xff\xd1";
}

/* An address behind a call between sp and where the frame pointer points: it
 * may be the code's own, which then has no frame. */
static void test_doubt(void **state)
{
    uint32_t doubtful;
    (void)state;
    for (unsigned at = 0; at < 8; at++) {
        HIDE("\x90\x90", 1, at, 50, 5, &doubtful);
        assert_int_equal(doubtful, at < 5);
    }
    /* No frame pointer: the walk ends in any case. */
    HIDE("\x90\x90", 1, 30, 50, 5000, &doubtful);
    assert_int_equal(doubtful, 1);
}

/* push %rbp; mov %rsp,%rbp; push %r15; mov %rdi,%r15; push %rbx; sub $24,%rsp
 * (40 bytes, which no function has that calls others), and $32 (48). */
static const char odd[] =
    "\x55\x48\x89\xe5\x41\x57\x49\x89\xff\x53\x48\x83\xec\x18";
static const char even[] =
    "\x55\x48\x8b\xec\x41\x57\x49\x89\xff\x53\x48\x81\xec\x20\0\0\0";
/* The same with push %rax at the end (32), %rsi (V8), $22 (V8), a call (16). */
static const char pushed[] = "\x55\x48\x89\xe5\x41\x57\x41\x56\x53\x50";
static const char others[] = "\x55\x48\x89\xe5\x56\x57\x50\x90";
static const char numbers[] = "\x55\x48\x89\xe5\x6a\x16\x57\x90";
static const char calls[] = "\x55\x48\x89\xe5\x53\x41\x54\xe8\0\0\0\0";

/* Whether a stack counts as whole that is interrupted `far` bytes behind code
 * that makes a frame, with an address behind a call on the stack and the frame
 * pointer in word fp. */
static int is_whole(const char *code, size_t size, size_t far, unsigned fp)
{
    uint32_t doubtful;
    /* `other` has 0x90 (nop) around it. */
    memset(other, 0x90, 8 * (size_t)PAGE);
    const struct outcome found =
        hide_in(other + 5, code, size, far, 0, 60, fp, &doubtful);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
    return !doubtful;
}

#define WHOLE(code, far, fp) is_whole(code, sizeof(code) - 1, far, fp)

/* The function's begin, far before the pc, says how large its frame is. */
static void test_frame_by_the_begin(void **state)
{
    (void)state;
    static const size_t far[] = {100, 2040, 2043, 2046, 4088, 4093, 16380};
    for (unsigned i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        assert_true(WHOLE(even, far[i], 6));
        assert_false(WHOLE(even, far[i], 5));
        assert_false(WHOLE(even, far[i], 7));
        assert_false(WHOLE(odd, far[i], 5));
    }
    assert_false(WHOLE(even, 19000, 6));
    assert_true(WHOLE(pushed, 200, 4));
    assert_false(WHOLE(pushed, 200, 3));
    assert_true(WHOLE(calls, 200, 2));
    for (unsigned fp = 1; fp < 8; fp++) {
        assert_false(WHOLE(others, 200, fp));
        assert_false(WHOLE(numbers, 200, fp));
    }
    /* Another function begins between: it is that one's frame that counts. */
    memset(other, 0x90, 8 * (size_t)PAGE);
    memcpy(other + 2000, calls, sizeof(calls) - 1);
    uint32_t doubtful;
    hide_in(other + 5, even, sizeof(even) - 1, 4000, 0, 60, 6, &doubtful);
    assert_int_equal(doubtful, 1);
    hide_in(other + 5, even, sizeof(even) - 1, 4000, 0, 60, 2, &doubtful);
    assert_int_equal(doubtful, 0);
    hide_in(other + 5, even, sizeof(even) - 1, 1900, 0, 60, 6, &doubtful);
    assert_int_equal(doubtful, 0);
}

/* A signal interrupted code that its handler has unmapped since. */
static void test_code_that_has_gone(void **state)
{
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame frame = {.interrupted = 1,
                                  .pc = (uint64_t)page + PAGE + CODE};
    (void)state;
    memset(stack, 0, sizeof(stack));
    walk.total = 2;
    frame.registers[JP_ARCH_SP] = (uint64_t)stack;
    frame.registers[JP_ARCH_FP] = (uint64_t)(stack + 40);
    assert_int_equal(jp_walk_ahead_sig(&walk, &frame), JP_AHEAD_UNKNOWN);
    assert_int_equal(jp_walk_hidden_sig(&walk, &frame), 0);
}

/* A frame that is the function's own begins at a return address that another
 * function has left, which was called from nearby. */
static void test_address_left(void **state)
{
    static const uint8_t call[] = {0xe8, 0x10, 0, 0, 0};
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame frame = {.interrupted = 1,
                                  .pc = (uint64_t)page + CALLER + 11};
    (void)state;
    memset(stack, 0, sizeof(stack));
    memset(page, 0xcc, PAGE);
    memcpy(page + CALLER, sets, sizeof(sets) - 1);
    memcpy(page + CODE, call, sizeof(call));
    frame.registers[JP_ARCH_SP] = (uint64_t)stack;
    frame.registers[JP_ARCH_FP] = (uint64_t)(stack + 1);
    stack[0] = (uint64_t)page + CODE + sizeof(call);
    assert_int_equal(jp_walk_hidden_sig(&walk, &frame), 0);
    assert_int_equal(walk.doubtful, 0);
}

/* The return address is in a register, far from the code: V8's
 * BaselineOutOfLinePrologue, which is called by call *N(%r13). */
static void test_address_in_a_register(void **state)
{
    static const uint8_t call[] = {0x41, 0xff, 0x95, 0x10, 0, 0, 0};
    uint8_t *far = other + 4 * (size_t)PAGE;
    uint64_t roots[3] = {0};
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame frame = {.interrupted = 1,
                                  .pc = (uint64_t)page + CODE + 1};
    (void)state;
    memcpy(far - sizeof(call), call, sizeof(call));
    memset(stack, 0, sizeof(stack));
    memset(page, 0x90, PAGE);
    frame.registers[JP_ARCH_SP] = (uint64_t)stack;
    frame.registers[JP_ARCH_FP] = (uint64_t)(stack + 40);
    frame.registers[13] = (uint64_t)roots;
    frame.registers[15] = (uint64_t)far;
    /* To other code; to this function, whose frame this is; and is not. */
    assert_int_equal(jp_walk_hidden_sig(&walk, &frame), 0);
    assert_int_equal(walk.doubtful, 0);
    roots[2] = (uint64_t)page + CODE;
    stack[41] = (uint64_t)far;
    assert_int_equal(jp_walk_hidden_sig(&walk, &frame), 0);
    assert_int_equal(walk.doubtful, 0);
    stack[41] = 0;
    assert_int_equal(jp_walk_hidden_sig(&walk, &frame), 1);
    assert_int_equal(frame.pc, (uint64_t)far);
    assert_int_equal(frame.registers[JP_ARCH_SP], (uint64_t)stack);
}

/* A JIT compiler has got more memory for code since the table of ranges was
 * read, and nobody has asked about it yet. */
static void test_code_that_is_new(void **state)
{
    static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
    const size_t size = 2 * (size_t)PAGE; /* more than is free behind `page` */
    uint8_t *fresh = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *const behind = fresh + CODE + sizeof(call);
    const int32_t way = (int32_t)(page + CODE - behind);
    struct jp_vma vma;
    struct jp_maps_range range;
    struct jp_walk walk = walk_of_stack();
    struct jp_walk_frame frame;
    (void)state;
    assert_ptr_not_equal(fresh, MAP_FAILED);
    if (jp_procmaps_query_sig((uint64_t)fresh, &vma) != 0)
        skip(); /* Linux before 6.11: only a scan finds it */
    memcpy(fresh + CODE, call, sizeof(call));
    memcpy(behind - sizeof(way), &way, sizeof(way));
    /* It called this function, whose frame this is: what else lies on the
     * stack is not the caller. */
    frame = lay(page + CODE, "\x90\x90", 2, 1, 2, 5);
    stack[6] = (uint64_t)behind;
    assert_int_equal(jp_walk_hidden_sig(&walk, &frame), 0);
    assert_int_equal(walk.doubtful, 0);
    /* It may have called this one, which has no frame then; the code that
     * returns, or calls elsewhere, does so. */
    memcpy(behind - 5, "\x90\x90\x90\xff\xd1", 5);
    frame = lay(page + CODE, "\x90\x90", 2, 1, 50, 5);
    stack[2] = (uint64_t)behind;
    assert_int_equal(jp_walk_hidden_sig(&walk, &frame), 0);
    assert_int_equal(walk.doubtful, 1);
    frame = lay(page + CODE, "\x59\xff\xe1", 3, 0, 50, 40);
    stack[1] = (uint64_t)behind;
    assert_int_equal(jp_walk_ahead_sig(&walk, &frame), JP_AHEAD_AT);
    assert_int_equal(frame.pc, (uint64_t)behind);
    /* None of these has entered it: there is no map here. */
    assert_int_equal(jp_maps_find_sig((uint64_t)fresh, &range), -ENOENT);
    /* What is no code is none. */
    assert_int_equal(mprotect(fresh, size, PROT_READ), 0);
    memset(&buffer, 0, sizeof(buffer));
    walk = walk_of_stack();
    frame = lay(page + CODE, "\x90\x90", 2, 1, 50, 5);
    stack[2] = (uint64_t)behind;
    assert_int_equal(jp_walk_hidden_sig(&walk, &frame), 0);
    assert_int_equal(walk.doubtful, 0);
    assert_int_equal(munmap(fresh, size), 0);
}

/* Code at the end and at the begin of a page, which alone is read. */
static void test_code_before_is_in_the_page(void **state)
{
    uint32_t doubtful;
    (void)state;
    struct outcome found = hide_in(page + PAGE - 6, "\x55\x90\x90\x90\x90\x90",
                                   6, 1, 1, 0, 40, &doubtful);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
    assert_int_equal(doubtful, 1);
    expect(hide_in(page, "\x55\x90", 2, 1, 1, 0, 40, &doubtful), 2, 40);
    found = hide_in(page, "\x55\x90", 2, 0, 1, 0, 40, &doubtful);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
}

/* To the end of what is there, and beyond; the frame pointer in between. */
static void test_bounds(void **state)
{
    (void)state;
    struct outcome found = go_in(page + PAGE - 2, "\x59\xc3", 2, 1, 40, 0);
    assert_int_equal(found.answer, JP_AHEAD_UNKNOWN);
    found = go_in(page + PAGE - 20, "\x59\xc3", 2, 1, 40, 0);
    expect(found, 2, 40);
    assert_int_equal(GO("\xe9\x00\x00\x00\x60", 0, 40).answer,
                     JP_AHEAD_UNKNOWN);
    assert_int_equal(GO("\x48\x81\xc4\x00\x00\x00\x70\xc3", 0, 40).answer,
                     JP_AHEAD_UNKNOWN);
    assert_int_equal(GO("\x48\x83\xc4\x18\xc3", 3, 1).answer, JP_AHEAD_UNKNOWN);
}

/* Whatever bytes there are, a walk ends, and goes up the stack or nowhere. */
static void test_any_bytes(void **state)
{
    uint8_t bytes[96];
    unsigned found = 0;
    (void)state;
    srand(7);
    for (unsigned i = 0; i < 200000; i++) {
        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (uint8_t)(rand() >> 8);
        struct outcome got = go_in(page + CODE + i % 3000, (const char *)bytes,
                                   sizeof(bytes), (unsigned)rand() % 8,
                                   (unsigned)rand() % 64, (uint64_t)rand());
        if (got.answer == JP_AHEAD_AT) {
            assert_int_equal(got.pc, (uint64_t)page + CALLER);
            assert_uint_in_range(got.sp, 1, 64);
            found++;
        } else {
            assert_int_equal(got.sp, 0);
        }
    }
    assert_uint_in_range(found, 1, 100000);
}

static int begin(void **state)
{
    (void)state;
    page = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    other = mmap(NULL, 8 * (size_t)PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (other == MAP_FAILED || page == MAP_FAILED ||
        munmap(page + PAGE, PAGE) != 0)
        return -1;
    jp_maps_before_log_sig();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_frame_to_come),
        cmocka_unit_test(test_own_frame),
        cmocka_unit_test(test_goes_elsewhere),
        cmocka_unit_test(test_frame_made_by_another),
        cmocka_unit_test(test_other_ways),
        cmocka_unit_test(test_address_pushed),
        cmocka_unit_test(test_frame_pointer_pushed),
        cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_frame_by_the_begin),
        cmocka_unit_test(test_address_left),
        cmocka_unit_test(test_code_that_has_gone),
        cmocka_unit_test(test_address_in_a_register),
        cmocka_unit_test(test_code_that_is_new),
        cmocka_unit_test(test_code_before_is_in_the_page),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}

#else

/* Other processors' return addresses are in a register. */
static void test_unknown(void **state)
{
    static struct jp_buffer buffer;
    struct jp_walk walk = {.process = &jp_walk_process, .buffer = &buffer};
    struct jp_walk_frame frame = {.interrupted = 1, .pc = (uint64_t)&buffer};
    (void)state;
    assert_int_equal(jp_walk_ahead_sig(&walk, &frame), JP_AHEAD_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
