/* SPDX-License-Identifier: MIT
 *
 * Spins on stacks of the program's own, in so many CPU seconds:
 *     fibers WAY [SECONDS=0.5] [thread]
 * in the first thread or another.  Each WAY is how some library makes such
 * stacks and what it says of them:
 *     linked    a stack pointer kept at the fiber's top leads back (Wasmtime)
 *     onstack   the frame pointer does (Rust's psm and stacker)
 *     marked    the frame's CIE says that it is a signal's (corosensei)
 *     computed  pointers to pointers, values by expressions
 *     effect    both: such a CIE, and pointers to pointers (OCaml 5's effects)
 *     context   makecontext: nothing leads back
 *     local     the same, in a frame of the thread's stack
 *     bare      no call-frame information at all (Boost.Context, libco)
 *     all       all of them by turns
 * x86-64 alone has linked, onstack, marked, computed, effect and bare.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <ucontext.h>

#include "common.h"

#define STACK_BYTES 65536

static double until;
static uint64_t *top;
static ucontext_t outside, inside;
static volatile uint64_t sum;

NOINLINE static void fiber_spin(void)
{
    sum += turn(20000);
    BARRIER();
}

static int is_over(void)
{
    return cpu_seconds(CLOCK_THREAD_CPUTIME_ID) >= until;
}

NOINLINE void fiber_work(void);
NOINLINE void fiber_work(void)
{
    for (int i = 0; i < 100 && !is_over(); i++)
        fiber_spin();
    BARRIER();
}

#ifdef __x86_64__
void link_switch(uint64_t *stack);
void link_start(void);
void on_stack(void (*function)(void), uint64_t *stack);
void marked_call(void (*function)(void), uint64_t *stack);
void computed_call(void (*function)(void), uint64_t *stack);
void effect_call(void (*function)(void), uint64_t *stack);
void bare_call(void (*function)(void), uint64_t *stack);

/* The stack that is left stands at stack[-2], and so does the one to go to. */
__asm__(".text\n"
        ".type link_switch, @function\n"
        "link_switch: .cfi_startproc\n"
        "push %rbp\n .cfi_adjust_cfa_offset 8\n"
        "push %rbx\n .cfi_adjust_cfa_offset 8\n"
        "push %r12\n .cfi_adjust_cfa_offset 8\n"
        "push %r13\n .cfi_adjust_cfa_offset 8\n"
        "push %r14\n .cfi_adjust_cfa_offset 8\n"
        "push %r15\n .cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 40\n"
        "movq -16(%rdi), %rax\n"
        "movq %rsp, -16(%rdi)\n"
        "movq %rax, %rsp\n"
        "pop %r15\n .cfi_adjust_cfa_offset -8\n"
        "pop %r14\n .cfi_adjust_cfa_offset -8\n"
        "pop %r13\n .cfi_adjust_cfa_offset -8\n"
        "pop %r12\n .cfi_adjust_cfa_offset -8\n"
        "pop %rbx\n .cfi_adjust_cfa_offset -8\n"
        "pop %rbp\n .cfi_adjust_cfa_offset -8\n .cfi_restore %rbp\n"
        "ret\n .cfi_endproc\n"
        ".size link_switch, . - link_switch\n");

/* CFA: DW_OP_reg7, DW_OP_deref, DW_OP_plus_uconst 56. */
__asm__(".type link_start, @function\n"
        "link_start: .cfi_startproc simple\n .cfi_def_cfa_offset 0\n"
        ".cfi_escape 0x0f, 4, 0x57, 0x06, 0x23, 56\n"
        ".cfi_offset 16, -8\n .cfi_offset 6, -16\n .cfi_offset 3, -24\n"
        ".cfi_offset 12, -32\n .cfi_offset 13, -40\n"
        ".cfi_offset 14, -48\n .cfi_offset 15, -56\n"
        "call *%rbx\n"
        "movq %r12, %rdi\n"
        "call link_switch\n"
        "ud2\n .cfi_endproc\n"
        ".size link_start, . - link_start\n");

__asm__(".type on_stack, @function\n"
        "on_stack: .cfi_startproc\n"
        "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        "movq %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"
        "movq %rsi, %rsp\n"
        "call *%rdi\n"
        "movq %rbp, %rsp\n"
        "pop %rbp\n .cfi_def_cfa %rsp, 8\n"
        "ret\n .cfi_endproc\n"
        ".size on_stack, . - on_stack\n");

/* CFA: DW_OP_breg6 0, DW_OP_deref, DW_OP_plus_uconst 16. */
__asm__(".type marked_call, @function\n"
        "marked_call: .cfi_startproc\n .cfi_signal_frame\n"
        "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        "movq %rsp, -16(%rsi)\n"
        "leaq -16(%rsi), %rbp\n"
        ".cfi_escape 0x0f, 5, 0x76, 0, 0x06, 0x23, 16\n"
        "movq %rbp, %rsp\n"
        "call *%rdi\n"
        "movq (%rbp), %rsp\n .cfi_def_cfa %rsp, 16\n"
        "pop %rbp\n .cfi_def_cfa_offset 8\n"
        "ret\n .cfi_endproc\n"
        ".size marked_call, . - marked_call\n");

/* CFA: DW_OP_breg6 0, DW_OP_deref, DW_OP_deref, DW_OP_lit4, DW_OP_dup,
 * DW_OP_mul, DW_OP_plus; the frame pointer itself, from the CFA: DW_OP_lit16,
 * DW_OP_minus, DW_OP_deref. */
__asm__(".type computed_call, @function\n"
        "computed_call: .cfi_startproc\n"
        "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        "movq %rsp, -16(%rsi)\n"
        "leaq -16(%rsi), %rax\n"
        "movq %rax, -32(%rsi)\n"
        "leaq -32(%rsi), %rbp\n"
        ".cfi_escape 0x0f, 8, 0x76, 0, 0x06, 0x06, 0x34, 0x12, 0x1e, 0x22\n"
        ".cfi_escape 0x16, 6, 3, 0x40, 0x1c, 0x06\n"
        "movq %rbp, %rsp\n"
        "call *%rdi\n"
        "movq 16(%rbp), %rsp\n .cfi_def_cfa %rsp, 16\n"
        ".cfi_offset %rbp, -16\n"
        "pop %rbp\n .cfi_def_cfa_offset 8\n .cfi_restore %rbp\n"
        "ret\n .cfi_endproc\n"
        ".size computed_call, . - computed_call\n");

/* As caml_runstack, at whose fiber's top a pointer leads to the caller's stack.
 * CFA: DW_OP_breg6 0, DW_OP_deref, DW_OP_deref, DW_OP_plus_uconst 16. */
__asm__(".type effect_call, @function\n"
        "effect_call: .cfi_startproc\n .cfi_signal_frame\n"
        "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        "movq %rsp, -16(%rsi)\n"
        "leaq -16(%rsi), %rax\n"
        "movq %rax, -32(%rsi)\n"
        "leaq -32(%rsi), %rbp\n"
        ".cfi_escape 0x0f, 6, 0x76, 0, 0x06, 0x06, 0x23, 16\n"
        "movq %rbp, %rsp\n"
        "call *%rdi\n"
        "movq 16(%rbp), %rsp\n .cfi_def_cfa %rsp, 16\n"
        "pop %rbp\n .cfi_def_cfa_offset 8\n .cfi_restore %rbp\n"
        "ret\n .cfi_endproc\n"
        ".size effect_call, . - effect_call\n");

__asm__(".type bare_call, @function\n"
        "bare_call: push %rbp\n push %rbx\n"
        "movq %rsp, -8(%rsi)\n"
        "movq %rsi, %rbx\n"
        "leaq bare_end(%rip), %rax\n"
        "movq %rax, -24(%rsi)\n"
        "leaq -24(%rsi), %rsp\n"
        "movq %rax, %rbp\n"
        "jmp *%rdi\n"
        "bare_end: movq -8(%rbx), %rsp\n"
        "pop %rbx\n pop %rbp\n ret\n"
        ".size bare_call, . - bare_call\n");

NOINLINE static void linked(void)
{
    uint64_t *frame = top - 9; /* r15 to rbp, the return address, the link */

    memset(frame, 0, 9 * sizeof(*frame));
    frame[3] = (uint64_t)top;        /* r12 */
    frame[4] = (uint64_t)fiber_work; /* rbx */
    frame[6] = (uint64_t)link_start;
    frame[7] = (uint64_t)frame;
    link_switch(top);
    BARRIER();
}

NOINLINE static void onstack(void)
{
    on_stack(fiber_work, top);
    BARRIER();
}

NOINLINE static void marked(void)
{
    marked_call(fiber_work, top);
    BARRIER();
}

NOINLINE static void computed(void)
{
    computed_call(fiber_work, top);
    BARRIER();
}

NOINLINE static void effect(void)
{
    effect_call(fiber_work, top);
    BARRIER();
}

NOINLINE static void bare(void)
{
    bare_call(fiber_work, top);
    BARRIER();
}
#endif

NOINLINE static void swap_to(void *stack)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = STACK_BYTES;
    inside.uc_link = &outside;
    makecontext(&inside, fiber_work, 0);
    swapcontext(&outside, &inside);
    BARRIER();
}

NOINLINE static void context(void)
{
    swap_to((char *)top - STACK_BYTES);
    BARRIER();
}

NOINLINE static void local(void)
{
    uint64_t stack[STACK_BYTES / 8];

    swap_to(stack);
    BARRIER();
}

static const struct {
    const char *name;
    void (*function)(void);
} ways[] = {
#ifdef __x86_64__
    {"linked", linked},   {"onstack", onstack},   {"marked", marked},
    {"bare", bare},       {"computed", computed}, {"effect", effect},
#endif
    {"context", context}, {"local", local}};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const char *wanted;
static double seconds;
static int done;

NOINLINE static void *run(void *unused)
{
    char *stack = malloc(STACK_BYTES + 64);

    if (stack == NULL)
        return unused;
    top = (uint64_t *)(((uint64_t)stack + STACK_BYTES) & ~63ULL);
    until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    do {
        for (size_t i = 0; i < WAYS; i++) {
            if (strcmp(wanted, ways[i].name) != 0 && strcmp(wanted, "all") != 0)
                continue;
            ways[i].function();
            done = 1;
        }
    } while (done && !is_over());
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc < 2)
        return 64;
    wanted = argv[1];
    seconds = argument(argc, argv, 2, 0.5);
    if (argc < 4)
        run(NULL);
    else if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
    return done ? 0 : 64;
}
