/* SPDX-License-Identifier: MIT
 *
 * The walker on another machine, at every instruction of functions of each kind
 * (bare leaves, frames, alloca, signed return addresses): a breakpoint is put
 * on one after the other, and in its SIGTRAP the stack is walked by jprof's
 * objects.  The link register of the first instruction has the caller; from
 * there to the program's root all walks must agree.  The same in a linker's
 * stub, which has no call-frame information, and
 * where the machine's header has PLAIN, in functions without call-frame
 * information, as JIT compilers make them.  Then walks through frames
 * that have a frame record alone, by both walkers, and from signal handlers, on
 * both kinds of stack, behind a trampoline without call-frame information, the
 * kernel's or one as the kernel's.  Built without frame pointers, on aarch64
 * with and without pointer authentication; run under qemu-user by
 * tests/run/test_aarch64.py and test_riscv64.py, or on a real machine.
 * Runs in: tests (aarch64, riscv64). */
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../preload/sig/handler.h"
#include "../../preload/sig/state/config.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/logfile.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/state/thread.h"
#include "../../preload/sig/unwind/unwind.h"
#include "machine.h"
#include "records.h"

#define KEEP __attribute__((noinline, noclone))
#define FRAMES 64U

struct stack {
    uint32_t depth;
    int reason;
    uint64_t frames[FRAMES];
    uint64_t link;
};

static struct stack walked;
static uint32_t hits;
static uint8_t *broken; /* the instruction that a breakpoint is on */
static uint8_t original[BREAK_BYTES];
static volatile uint64_t sink;

static void walk(const ucontext_t *context)
{
    struct jp_thread *thread = jp_thread_by_tid_sig((uint32_t)gettid());
    static struct jp_buffer *buffers[2]; /* what one walker keeps is its own */
    struct jp_buffer **const place = &buffers[jp_config.walker == JP_WALKER_FP];
    if (*place == NULL)
        *place = jp_buffer_take_sig();
    struct jp_buffer *const buffer = *place;
    if (thread == NULL || buffer == NULL || jp_logfile_ensure_sig() != 0)
        abort();
    jp_maps_check_buffer_sig(buffer);
    walked.reason = (int)jp_walk_sig(thread, buffer, context);
    walked.depth = buffer->depth < FRAMES ? buffer->depth : FRAMES;
    memcpy(walked.frames, buffer->frames, walked.depth * sizeof(uint64_t));
    walked.link = link_of(context);
}

static void put(const uint8_t bytes[BREAK_BYTES])
{
    memcpy(broken, bytes, BREAK_BYTES);
    __builtin___clear_cache((char *)broken, (char *)broken + BREAK_BYTES);
}

static void break_at(uint8_t *code)
{
    static const uint8_t instruction[BREAK_BYTES] = BREAK;
    broken = code;
    memcpy(original, code, BREAK_BYTES);
    put(instruction);
}

static void on_trap(int number, siginfo_t *info, void *data)
{
    const ucontext_t *context = data;
    (void)number;
    (void)info;
    if (pc_of(context) != (uint64_t)broken)
        abort();
    put(original); /* it is run after all, and looked at before */
    walk(context);
    hits++;
}

/* The functions, each in a section of its own, whose end the linker tells. */
#define CASE(name) __attribute__((section("cases_" #name))) KEEP uint64_t name
#define END_OF(name) ((uint8_t *)(uintptr_t)__stop_cases_##name)
extern uint8_t __stop_cases_bare_leaf[], __stop_cases_with_frame[];
extern uint8_t __stop_cases_with_alloca[], __stop_cases_with_many[];
CASE(bare_leaf)(uint64_t a);
CASE(with_frame)(uint64_t a);
CASE(with_alloca)(uint64_t a);
CASE(with_many)(uint64_t a);

KEEP uint64_t bottom(uint64_t a)
{
    sink += a;
    return sink;
}

CASE(bare_leaf)(uint64_t a)
{
    return a * 3 + sink / (a + 1);
}

CASE(with_frame)(uint64_t a)
{
    return bottom(a) + bottom(a + 1);
}

CASE(with_alloca)(uint64_t a)
{
    volatile char *room = alloca(a * 16 + 16);
    room[a] = (char)a;
    return bottom((uint64_t)room[a]) + (uint64_t)room[a];
}

CASE(with_many)(uint64_t a)
{
    uint64_t b = bottom(a), c = bottom(b), d = bottom(c), e = bottom(d);
    volatile uint64_t large[1000];
    for (unsigned i = 0; i < 2; i++)
        large[(a + i) % 1000] = bottom(b * c + d * e);
    return a + b * c + d * e + large[a % 1000];
}

/* Leads on to bottom. */
__asm__(STUBS);
extern uint8_t __stop_stubs[];
uint64_t stub(uint64_t a);
extern uint64_t (*stub_slot)(uint64_t);
uint64_t (*stub_slot)(uint64_t) __attribute__((visibility("hidden"))) = bottom;

#ifdef PLAIN
__asm__(PLAIN);
extern uint8_t __stop_cases_plain_link[], __stop_cases_plain_jump[];
extern uint8_t __stop_cases_plain_steps[];
uint64_t plain_link(uint64_t a);
uint64_t plain_jump(uint64_t a);
uint64_t plain_steps(uint64_t a);
#endif

static int failures;

static void fail(const char *what, const char *name, unsigned at)
{
    failures++;
    printf("FAILED %s: %s at instruction %u: reason %d, %u frames:", what, name,
           at, walked.reason, walked.depth);
    for (unsigned i = 0; i < walked.depth; i++)
        printf(" %#lx", (unsigned long)walked.frames[i]);
    printf("\n");
}

KEEP static uint64_t call(uint64_t (*function)(uint64_t), uint64_t a)
{
    return function(a) + 1;
}

static int same(const struct stack *a, const struct stack *b)
{
    return a->depth == b->depth &&
           memcmp(a->frames + 1, b->frames + 1,
                  (a->depth - 1) * sizeof(uint64_t)) == 0;
}

KEEP static void
every_instruction(const char *name, uint64_t (*function)(uint64_t),
                  const uint8_t *end,
                  uint64_t (*caller)(uint64_t (*)(uint64_t), uint64_t))
{
    struct stack first;
    uint8_t *code = (uint8_t *)(uintptr_t)function;
    const uint32_t before = hits;
    memset(&first, 0, sizeof(first));
    for (unsigned i = 0; code < end; code += instruction_bytes(code), i++) {
        uint32_t had = hits;
        break_at(code);
        sink += caller(function, 7);
        put(original);
        if (hits == had)
            continue; /* not on this path */
        if (i == 0)
            first = walked;
        if (walked.reason != JP_REASON_ROOT)
            fail("root", name, i);
        else if (walked.frames[0] != (uint64_t)broken)
            fail("leaf", name, i);
        else if (i == 0 && walked.frames[1] != walked.link)
            fail("caller", name, i);
        else if (!same(&walked, &first))
            fail("agreement", name, i);
    }
    printf("%s: %u instructions, %u frames\n", name, hits - before,
           first.depth);
    if (hits - before < 3 || first.depth < 4)
        fail("count", name, 0);
}

/* From the innermost function of a chain that has frame records alone.  The
 * first walk finds the frames, the next ones what the first has kept.  By frame
 * pointers alone the interrupted function, which has none, hides its caller. */
KEEP static void in_records(const char *name, uint32_t walker)
{
    const uint32_t configured = jp_config.walker;
    const uint32_t hidden = walker == JP_WALKER_FP;
    jp_config.walker = walker;
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t before = hits;
        memset(&walked, 0, sizeof(walked));
        break_at((uint8_t *)(uintptr_t)bottom);
        sink += by_records();
        if (hits == before || walked.frames[0] != (uint64_t)broken ||
            (!hidden && walked.frames[1] != walked.link) ||
            memcmp(walked.frames + 2 - hidden, record_callers,
                   sizeof(record_callers)) != 0)
            fail("records", name, i);
        else if (!hidden && walked.reason != JP_REASON_ROOT)
            fail("root", name, i);
    }
    jp_config.walker = configured;
    printf("%s: %u frames\n", name, walked.depth);
}

/* Handlers. */
static uint64_t raised_from;

static void on_usr(int number, siginfo_t *info, void *data)
{
    (void)number;
    (void)info;
    (void)data;
    break_at((uint8_t *)(uintptr_t)bottom);
    bottom(1);
}

KEEP static void raises(int number)
{
    raised_from =
        (uint64_t)__builtin_extract_return_addr(__builtin_return_address(0));
    raise(number);
    sink++;
}

static void install(int number, int alternate)
{
    struct kernel_action action = {
        .handler = (void *)(uintptr_t)on_usr,
        .flags = RESTORER_FLAG | SA_SIGINFO |
                 (alternate ? (unsigned long)SA_ONSTACK : 0)};
    set_restorer(&action);
    if (syscall(SYS_rt_sigaction, number, &action, NULL, 8) != 0)
        abort();
}

KEEP static void in_handler(const char *name, int number)
{
    uint32_t before = hits;
    int found = 0, code = 0;
    raises(number);
    for (unsigned i = 0; i < walked.depth; i++) {
        found |= walked.frames[i] == raised_from;
        /* What is no return address is stored plus one. */
        code |= is_trampoline(walked.frames[i] - 1);
    }
    printf("%s: %u frames\n", name, walked.depth);
    if (hits == before || walked.reason != JP_REASON_ROOT || !found || !code)
        fail("handler", name, 0);
}

static void writable(const void *code)
{
    const uintptr_t page = (uintptr_t)code & ~(uintptr_t)4095;
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        abort();
}

int main(void)
{
    static char alternate[1 << 17];
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_trap;
    sigaction(SIGTRAP, &action, NULL);
    sigaltstack(&stack, NULL);
    writable((void *)(uintptr_t)bottom);
    writable((void *)(uintptr_t)bare_leaf);
    writable((void *)(uintptr_t)with_many);
    writable((void *)(uintptr_t)stub);
#ifdef PLAIN
    writable((void *)(uintptr_t)plain_leaf);
    writable((void *)(uintptr_t)plain_steps);
#endif
    every_instruction("bare leaf", bare_leaf, END_OF(bare_leaf), call);
    every_instruction("frame", with_frame, END_OF(with_frame), call);
    every_instruction("alloca", with_alloca, END_OF(with_alloca), call);
    every_instruction("many", with_many, END_OF(with_many), call);
    every_instruction("stub", stub, __stop_stubs, call);
#ifdef PLAIN
    every_instruction("plain leaf", plain_leaf, END_OF(plain_leaf),
                      from_record);
    every_instruction("plain frame", plain_frame, END_OF(plain_frame),
                      from_record);
    every_instruction("plain room", plain_room, END_OF(plain_room),
                      from_record);
    every_instruction("plain link", plain_link, END_OF(plain_link),
                      from_record);
    every_instruction("plain jump", plain_jump, END_OF(plain_jump),
                      from_record);
    every_instruction("plain steps", plain_steps, END_OF(plain_steps),
                      from_record);
#endif
    in_records("frame records", JP_WALKER_AUTO);
    in_records("frame records alone", JP_WALKER_FP);
    install(SIGUSR2, 0);
    install(SIGWINCH, 1);
    in_handler("handler", SIGUSR2);
    in_handler("handler on an alternate stack", SIGWINCH);
    say_more();
    printf("%d failures\n", failures);
    return failures != 0;
}
