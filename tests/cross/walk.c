/* SPDX-License-Identifier: MIT
 *
 * The walker on aarch64, at every instruction of functions of each kind (bare
 * leaves, frames, alloca, signed return addresses): a breakpoint is put on one
 * after the other, and in its SIGTRAP the stack is walked by jprof's objects.
 * The first instruction's x30 is the caller; from there to the program's root
 * all walks must agree.  Then walks from signal handlers, on both kinds of
 * stack, behind a trampoline without call-frame information as the kernel's.
 * Built without frame pointers, with and without pointer authentication; run
 * under qemu-user by tests/run/test_aarch64.py, or on a real machine.
 * Runs in: tests (aarch64). */
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../preload/sig/arch/arch.h"
#include "../../preload/sig/handler.h"
#include "../../preload/sig/kit.h"
#include "../../preload/sig/logfile.h"
#include "../../preload/sig/maps.h"
#include "../../preload/sig/slot.h"
#include "../../preload/sig/walk.h"

#define KEEP __attribute__((noinline, noclone))
#define BRK 0xd4200000U        /* brk #0 (Arm ARM, C6.2) */
#define INSTRUCTIONS_MAX 200U  /* of a function */
#define FRAMES 64U

struct stack {
    uint32_t depth;
    int reason;
    uint64_t frames[FRAMES];
    uint64_t lr;
};

static struct stack walked;
static uint32_t hits;
static uint32_t *broken;       /* the instruction that brk stands for */
static uint32_t original;
static volatile uint64_t sink;

static void walk(const ucontext_t *context)
{
    struct jp_slot *slot = jp_slot_by_tid_sig((uint32_t)gettid());
    static struct jp_kit *kit;
    if (kit == NULL)
        kit = jp_kit_take_sig();
    if (slot == NULL || kit == NULL || jp_logfile_ready_sig() != 0)
        abort();
    jp_maps_check_kit_sig(kit);
    walked.reason = (int)jp_walk_sig(slot, kit, context);
    walked.depth = kit->depth < FRAMES ? kit->depth : FRAMES;
    memcpy(walked.frames, kit->frames, walked.depth * sizeof(uint64_t));
    walked.lr = context->uc_mcontext.regs[30];
}

static void put(uint32_t *at, uint32_t instruction)
{
    *at = instruction;
    __builtin___clear_cache((char *)at, (char *)(at + 1));
}

static void on_trap(int number, siginfo_t *info, void *data)
{
    const ucontext_t *context = data;
    (void)number;
    (void)info;
    if (context->uc_mcontext.pc != (uint64_t)broken)
        abort();
    walk(context);
    hits++;
    put(broken, original);     /* and it is run after all */
}

/* The functions.  Each ends where the next begins: their section is their
 * own, in this order. */
#define CASE(name) __attribute__((section("cases." #name))) KEEP uint64_t name
CASE(bare_leaf)(uint64_t a);
CASE(with_frame)(uint64_t a);
CASE(with_alloca)(uint64_t a);
CASE(with_many)(uint64_t a);
KEEP uint64_t bottom(uint64_t a);

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

static int failures;

static void fail(const char *what, const char *name, unsigned at)
{
    failures++;
    printf("FAILED %s: %s at instruction %u: reason %d, %u frames:", what,
           name, at, walked.reason, walked.depth);
    for (unsigned i = 0; i < walked.depth; i++)
        printf(" %#lx", (unsigned long)walked.frames[i]);
    printf("\n");
}

KEEP static void call(uint64_t (*function)(uint64_t))
{
    sink += function(7);
}

static int same(const struct stack *a, const struct stack *b)
{
    return a->depth == b->depth &&
           memcmp(a->frames + 1, b->frames + 1,
                  (a->depth - 1) * sizeof(uint64_t)) == 0;
}

KEEP static void every_instruction(const char *name,
                                   uint64_t (*function)(uint64_t))
{
    struct stack first;
    uint32_t *code = (uint32_t *)(uintptr_t)function;
    const uint32_t before = hits;
    memset(&first, 0, sizeof(first));
    for (unsigned i = 0; i < INSTRUCTIONS_MAX; i++) {
        uint32_t had = hits;
        broken = code + i;
        original = *broken;
        if (original == 0 || original == 0xd503201fU)
            break; /* padding: the function's end */
        put(broken, BRK);
        call(function);
        put(broken, original);
        if (hits == had)
            continue;          /* not on this path */
        if (i == 0)
            first = walked;
        if (walked.reason != JP_REASON_ROOT)
            fail("root", name, i);
        else if (walked.frames[0] != (uint64_t)broken)
            fail("leaf", name, i);
        else if (i == 0 && walked.frames[1] != jp_arch_strip_sig(walked.lr))
            fail("caller", name, i);
        else if (!same(&walked, &first))
            fail("agreement", name, i);
    }
    printf("%s: %u instructions, %u frames\n", name, hits - before,
           first.depth);
    if (hits - before < 4 || first.depth < 4)
        fail("count", name, 0);
}

/* Handlers. */
static uint64_t raised_from;

static void on_usr(int number, siginfo_t *info, void *data)
{
    (void)number;
    (void)info;
    (void)data;
    broken = (uint32_t *)(uintptr_t)bottom;
    original = *broken;
    put(broken, BRK);
    bottom(1);
}

KEEP static void raises(int number)
{
    raised_from = (uint64_t)__builtin_extract_return_addr(
        __builtin_return_address(0));
    raised_from = jp_arch_strip_sig(raised_from);
    raise(number);
    sink++;
}

/* As the kernel's: behind a nop, without call-frame information. */
__asm__(".text\n.balign 16\nnop\nnop\nnop\nnop\n"
        ".globl trampoline\n.type trampoline, %function\n"
        "trampoline: mov x8, #139\nsvc #0\n.size trampoline, . - trampoline");
extern void trampoline(void);

/* What the kernel takes (asm-generic/signal.h). */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

static void install(int number, int alternate)
{
    struct kernel_action action = {
        (void *)(uintptr_t)on_usr,
        0x04000000UL | SA_SIGINFO |            /* SA_RESTORER */
            (alternate ? (unsigned long)SA_ONSTACK : 0),
        (void *)(uintptr_t)trampoline, 0};
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
        code |= walked.frames[i] == (uint64_t)trampoline + 1;
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
    every_instruction("bare leaf", bare_leaf);
    every_instruction("frame", with_frame);
    every_instruction("alloca", with_alloca);
    every_instruction("many", with_many);
    install(SIGUSR2, 0);
    install(SIGWINCH, 1);
    in_handler("handler", SIGUSR2);
    in_handler("handler on an alternate stack", SIGWINCH);
#ifdef __ARM_FEATURE_PAC_DEFAULT
    printf("pointer authentication: %s\n",
           (getauxval(AT_HWCAP) >> 30 & 1) != 0 ? "signed" : "not here");
#endif
    printf("%d failures\n", failures);
    return failures != 0;
}
