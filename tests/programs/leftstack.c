/* SPDX-License-Identifier: MIT
 *
 * Code without call-frame information that goes on on another stack, as Go's:
 *     leftstack SECONDS
 * Spends a share of them in each kind: in_lent, where the frame pointer still
 * leads to the frame on the stack that was left; in_bare, where it leads to
 * the caller's frame there; in_any, so too, where the caller was called by a
 * pointer; in_near, where it is just before that code; in_pushed, where code
 * has saved it within its own frame and made it point there; in_begun, where
 * it is set to 0 with the stack.
 * Prints `done`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sys/mman.h>

#define STACK (64UL << 10)
#define SLICE 100000

/* Call a function with the stack pointer that *top is. */
void on_lent(void (*function)(void), void **top);
NOINLINE void in_lent(void);
NOINLINE void by_lent(void **top);

#if defined(__x86_64__)
void on_bare(void (*function)(void), void **top);
void on_near(void (*function)(void), void **top);
void on_pushed(void (*function)(void));
void on_begun(void (*function)(void), void **top);
NOINLINE void in_bare(void);
NOINLINE void in_any(void);
NOINLINE void in_near(void);
NOINLINE void in_pushed(void);
NOINLINE void in_begun(void);
NOINLINE void by_bare(void **top);
NOINLINE void by_any(void **top);
NOINLINE void by_near(void **top) __attribute__((section(".text.near")));
NOINLINE void by_pushed(void);
NOINLINE void by_begun(void **top);
void *home;
__asm__(".text\n"
        ".globl on_lent\n.type on_lent, @function\n"
        "on_lent:\n"
        "push %rbp\n mov %rsp, %rbp\n push %rbx\n"
        "mov %rsp, %rbx\n mov (%rsi), %rsp\n"
        "call *%rdi\n"
        "mov %rbx, %rsp\n pop %rbx\n pop %rbp\n ret\n"
        ".size on_lent, . - on_lent\n"
        ".globl on_bare\n.type on_bare, @function\n"
        "on_bare:\n"
        "mov (%rsi), %rax\n mov %rsp, -8(%rax)\n"
        "lea -16(%rax), %rsp\n"
        "call *%rdi\n"
        "mov 8(%rsp), %rsi\n mov %rsi, %rsp\n ret\n"
        ".size on_bare, . - on_bare\n"
        ".pushsection .text.near, \"ax\", @progbits\n.subsection 1\n"
        ".globl on_near\n.type on_near, @function\n"
        "on_near:\n"
        "mov (%rsi), %rax\n mov %rsp, -8(%rax)\n"
        "lea -16(%rax), %rsp\n"
        "call *%rdi\n"
        "mov 8(%rsp), %rsi\n mov %rsi, %rsp\n ret\n"
        ".size on_near, . - on_near\n"
        ".popsection\n"
        ".globl on_pushed\n.type on_pushed, @function\n"
        "on_pushed:\n"
        "push %rbp\n mov %rsp, %rbp\n sub $32, %rsp\n"
        "mov %rbp, 24(%rsp)\n lea 24(%rsp), %rbp\n"
        "call *%rdi\n"
        "mov 24(%rsp), %rbp\n add $32, %rsp\n pop %rbp\n ret\n"
        ".size on_pushed, . - on_pushed\n"
        /* What it calls comes back by come_home. */
        ".globl on_begun\n.type on_begun, @function\n"
        "on_begun:\n"
        "push %rbp\n push %rbx\n push %r12\n"
        "push %r13\n push %r14\n push %r15\n"
        "mov %rsp, home(%rip)\n"
        ".byte 0x48, 0x8b, 0x66, 0\n" /* mov 0(%rsi), %rsp, as long as Go's */
        "movq $0, %rbp\n"
        "push %rax\n"
        "call *%rdi\n"
        "ud2\n"
        ".globl come_home\n.type come_home, @function\n"
        "come_home:\n"
        "mov home(%rip), %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n"
        "pop %r12\n pop %rbx\n pop %rbp\n ret\n"
        ".size on_begun, . - on_begun\n");
void come_home(void);

void in_bare(void)
{
    FRAME();
    turn(SLICE);
}

void in_any(void)
{
    FRAME();
    turn(SLICE);
}

void in_near(void)
{
    FRAME();
    turn(SLICE);
}

void in_pushed(void)
{
    FRAME();
    turn(SLICE);
}

void in_begun(void)
{
    FRAME();
    turn(SLICE);
    come_home();
}

void by_bare(void **top)
{
    FRAME();
    on_bare(in_bare, top);
    BARRIER();
}

void by_any(void **top)
{
    FRAME();
    on_bare(in_any, top);
    BARRIER();
}

void by_near(void **top)
{
    FRAME();
    on_near(in_near, top);
    BARRIER();
}

void by_pushed(void)
{
    FRAME();
    on_pushed(in_pushed);
    BARRIER();
}

void by_begun(void **top)
{
    FRAME();
    on_begun(in_begun, top);
    BARRIER();
}

static void others(void **top)
{
    void (*volatile any)(void **top) = by_any;
    by_bare(top);
    any(top);
    by_near(top);
    by_pushed();
    by_begun(top);
}
#else
__asm__(".text\n"
        ".globl on_lent\n.type on_lent, %function\n"
        "on_lent:\n"
        "stp x29, x30, [sp, #-16]!\n mov x29, sp\n"
        "ldr x9, [x1]\n mov sp, x9\n"
        "blr x0\n"
        "mov sp, x29\n ldp x29, x30, [sp], #16\n ret\n"
        ".size on_lent, . - on_lent\n");

static void others(void **top)
{
    (void)top;
}
#endif

void in_lent(void)
{
    FRAME();
    turn(SLICE);
}

void by_lent(void **top)
{
    FRAME();
    on_lent(in_lent, top);
    BARRIER();
}

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 1, 0.5);
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 1;
    void *top = stack + STACK - 256;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        by_lent(&top);
        others(&top);
    }
    puts("done");
    return 0;
}
