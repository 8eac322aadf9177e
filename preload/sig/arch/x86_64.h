/* SPDX-License-Identifier: MIT
 *
 * x86-64: system calls and the registers of an interrupted context.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_X86_64_H
#define JP_ARCH_X86_64_H

#include <elf.h>
#include <linux/audit.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "restorer.h"
#include "x86_64_step.h"

#define JP_ARCH_MACHINE EM_X86_64
#define JP_ARCH_AUDIT AUDIT_ARCH_X86_64 /* seccomp_data.arch */

/* System calls that not every machine has, or by another name: renameat, with
 * no flags behind its arguments; what other calls that wait there are; and
 * whether a number is fork's. */
#define JP_ARCH_RENAME SYS_renameat
#define JP_ARCH_MORE_CALLS SYS_open,
#define JP_ARCH_IS_FORK(number) ((number) == SYS_fork)

/* A system call with up to six arguments; returns what the kernel does:
 * -errno from -4095 to -1 on failure.  Leaves errno alone.  The arguments are
 * read first: in a build with ThreadSanitizer a read is a call, which takes
 * registers that have their values already. */
static inline long jp_arch_syscall_sig(long number, const long a[6])
{
    const long a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4],
               a5 = a[5];
    register long r10 __asm__("r10") = a3;
    register long r8 __asm__("r8") = a4;
    register long r9 __asm__("r9") = a5;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a0), "S"(a1), "d"(a2), "r"(r10),
                       "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Has a byte of memory that others change as well be `to` if it is `from`.
 * Returns whether it was.  Not every machine has an instruction for bytes. */
static inline int jp_arch_swap_byte_sig(_Atomic uint8_t *byte, uint8_t from,
                                        uint8_t to)
{
    return atomic_compare_exchange_strong(byte, &from, to);
}

static inline uint64_t jp_arch_pc_sig(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t jp_arch_sp_sig(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline uint64_t jp_arch_fp_sig(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RBP];
}

/* The number of the system call that the interrupted thread is about to make,
 * for the first time or anew, or -1; and having it return `result` instead. */
static inline long jp_arch_call_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    if ((intptr_t)code < 0)
        return -1; /* the page for vsyscalls may not be read */
    return code[0] == 0x0f && code[1] == 0x05 /* syscall */
               ? (long)context->uc_mcontext.gregs[REG_RAX]
               : -1;
}

/* Whether the signal came to the thread as it waited in a system call, which is
 * about to be made again or has just failed with EINTR.  short_too: a call that
 * has just returned a number (a transfer cut short) counts as well. */
static inline int jp_arch_waited_sig(const ucontext_t *context, int short_too)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    if ((intptr_t)code < 0 || ((uintptr_t)code & 4095) < 2)
        return 0;
    if (code[0] == 0x0f && code[1] == 0x05)
        return 1;
    return code[-2] == 0x0f && code[-1] == 0x05 &&
           (context->uc_mcontext.gregs[REG_RAX] == -4 ||
            (short_too && context->uc_mcontext.gregs[REG_RAX] > 0));
}

/* Its second argument. */
static inline long jp_arch_second_sig(const ucontext_t *context)
{
    return (long)context->uc_mcontext.gregs[REG_RSI];
}

static inline void jp_arch_skip_call_sig(ucontext_t *context, long result)
{
    context->uc_mcontext.gregs[REG_RIP] += 2;
    context->uc_mcontext.gregs[REG_RAX] = result;
}

/* Where the caller's return address is when the interrupted function has not
 * made its frame yet, or has given it up: the offset from sp in bytes, or -1
 * when the frame pointer is the function's own.  The instruction at pc is the
 * next to run, so its bytes can be read; those behind a shorter one are not
 * looked at.  (Prologue `[endbr64] push %rbp; mov %rsp,%rbp`, epilogue `ret`:
 * System V ABI for AMD64, 3.2.2.) */
static inline int jp_arch_frameless_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    switch (code[0]) {
    case 0x55: /* push %rbp */
    case 0xc3: /* ret */
        return 0;
    case 0xf3: /* endbr64, or rep ret */
        return (code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) ||
                       code[1] == 0xc3
                   ? 0
                   : -1;
    case 0x48: /* mov %rsp,%rbp in its two encodings */
        return (code[1] == 0x89 && code[2] == 0xe5) ||
                       (code[1] == 0x8b && code[2] == 0xec)
                   ? 8
                   : -1;
    default:
        return -1;
    }
}

/* See aarch64.h; here linkers' stubs have call-frame information. */
static inline int jp_arch_stub_sig(const ucontext_t *context, uint64_t *pushed)
{
    (void)context;
    *pushed = 0;
    return 0;
}

/* Where a function without a frame pointer gives its stack back right behind a
 * call, `add $N,%rsp; ret`: N, else -1.  CPython's perf trampolines are such
 * (Python/asm_trampoline.S), in memory without call-frame information. */
#define JP_ARCH_BARE_BYTES 5
static inline int jp_arch_bare_return_sig(const uint8_t *code)
{
    return code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 &&
                   code[3] < 0x80 && code[3] % 8 == 0 && code[4] == 0xc3
               ? code[3]
               : -1;
}

/* What the call before a return address says of the function that it leads to.
 * `code` has the bytes around the return address `to`.  Besides a plain call
 * those of V8: call *N(%r13), r13 being its root register; mov $T,%r10; call
 * *%r10; and call *%rcx; mov N(%rbp),%r12, by which its interpreter calls the
 * handler of a bytecode (builtins-x64.cc, Generate_InterpreterEntryTrampoline,
 * macro-assembler-x64.cc). */
#define JP_ARCH_CALLER_BEFORE 13U
#define JP_ARCH_CALLER_BYTES 16U
static inline enum jp_arch_call
jp_arch_call_before_sig(const uint8_t code[JP_ARCH_CALLER_BYTES], uint64_t to,
                        const uint64_t registers[], uint64_t *target)
{
    const uint8_t *at = code + JP_ARCH_CALLER_BEFORE;
    int32_t offset;
    memcpy(&offset, at - 4, sizeof(offset));
    if (at[-5] == 0xe8) {
        *target = to + (uint64_t)(int64_t)offset;
        return JP_ARCH_CALL_DIRECT;
    }
    if (at[-7] == 0x41 && at[-6] == 0xff && at[-5] == 0x95) {
        *target = registers[13] + (uint64_t)(int64_t)offset;
        return JP_ARCH_CALL_MEMORY;
    }
    if (at[-13] == 0x49 && at[-12] == 0xba && at[-3] == 0x41 &&
        at[-2] == 0xff && at[-1] == 0xd2) {
        memcpy(target, at - 11, sizeof(*target));
        return JP_ARCH_CALL_DIRECT;
    }
    return at[-2] == 0xff && at[-1] == 0xd1 && at[0] == 0x4c &&
                   at[1] == 0x8b && at[2] == 0x65
               ? JP_ARCH_CALL_HANDLER
               : JP_ARCH_CALL_OTHER;
}

/* Whether the JP_ARCH_CALL_BYTES before an address, at `code`, end with a call:
 * e8 and 4 bytes, or ff /2 with its address in all forms.  What has a return
 * address that is behind no call was put there by hand.  (Intel SDM, volume 2,
 * 2.1.5.) */
#define JP_ARCH_CALL_BYTES 8U
static inline int jp_arch_is_call_sig(const uint8_t *code)
{
    if (code[JP_ARCH_CALL_BYTES - 5] == 0xe8)
        return 1;
    for (unsigned size = 2; size <= 7; size++) {
        const uint8_t *at = code + (JP_ARCH_CALL_BYTES - size);
        const uint8_t mode = at[1] >> 6, base = at[1] & 7;
        unsigned whole = 2 + (mode == 1) + (mode == 2) * 4U;
        if (at[0] != 0xff || (at[1] >> 3 & 7) != 2)
            continue;
        if (mode == 0 && base == 5)
            whole += 4;
        else if (size > 2 && mode != 3 && base == 4)
            whole += 1 + (mode == 0 && (at[2] & 7) == 5) * 4U;
        if (whole == size)
            return 1;
    }
    return 0;
}

/* Whether the interrupted function has given its frame pointer back, where the
 * call-frame information has it saved at an offset from itself: GCC says so
 * to the end of a function that realigned its stack, past `leave`.  What is
 * left to run is lea -8(%r10),%rsp, then ret. */
static inline int jp_arch_fp_popped_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    return code[0] == 0xc3 || (code[0] == 0x49 && code[1] == 0x8d &&
                               code[2] == 0x62 && code[3] == 0xf8);
}

/* DWARF's register numbers (System V ABI for AMD64, 3.6.2); the return
 * address is one of them.  SAVED lists those that calls preserve, besides the
 * stack and frame pointers. */
#define JP_ARCH_REGISTERS 17U
#define JP_ARCH_SP 7U
#define JP_ARCH_FP 6U
#define JP_ARCH_RA 16U
#define JP_ARCH_PC 16U
#define JP_ARCH_SAVED {3, 12, 13, 14, 15}
#define JP_ARCH_SAVED_COUNT 5U
/* A call pushes: the caller's stack begins above its callee's. */
#define JP_ARCH_CALL_PUSHES 1
/* Frame pointers lead to the high end of frames, where the caller's begin. */
#define JP_ARCH_FRAMES_LOW 0
/* The frame record, in bytes from the frame pointer: the caller's frame
 * pointer, the return address, and where the record ends (System V ABI for
 * AMD64, figure 3.3). */
#define JP_ARCH_FRAME_FP 0ULL
#define JP_ARCH_FRAME_RA 8ULL
#define JP_ARCH_FRAME_END 16ULL
/* Words that a stub may have put above its CFA: none here. */
#define JP_ARCH_STUB_WORDS 0

/* Bytes below sp that a leaf may use and a signal leaves alone. */
#define JP_ARCH_RED_ZONE 128U

/* Alternate signal stacks smaller than this the kernel refuses (MINSIGSTKSZ,
 * sigaltstack(2)). */
#define JP_ARCH_LEAST_STACK 2048U

/* Where the return trampoline of a signal handler finds the interrupted
 * context, from its sp, and the bytes of it that are read. */
#define JP_ARCH_SIGNAL_CONTEXT 0U
/* The trampoline itself: mov $__NR_rt_sigreturn,%rax; syscall.  That of glibc
 * has call-frame information, others may have none. */
#define JP_ARCH_SIGRETURN {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}
#define JP_ARCH_SIGRETURN_FIRST 7U /* bytes of its first instruction */
#define JP_ARCH_SIGNAL_BYTES                                                  \
    (offsetof(ucontext_t, uc_mcontext.gregs) + (REG_RIP + 1) * 8U)

/* Stores the registers by their DWARF numbers. */
static inline void jp_arch_registers_sig(const ucontext_t *context,
                                         uint64_t registers[])
{
    static const uint8_t from[JP_ARCH_REGISTERS] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
        REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
        REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (unsigned i = 0; i < JP_ARCH_REGISTERS; i++)
        registers[i] = (uint64_t)context->uc_mcontext.gregs[from[i]];
}

/* A return address without what signs it. */
static inline uint64_t jp_arch_strip_sig(uint64_t address)
{
    return address;
}

/* The thread pointer, by an instruction that the kernel may keep to itself
 * (FSGSBASE, Linux 5.9; its AT_HWCAP2 says so, and valgrind's that it may not),
 * and else by a system call, to which the place of the answer is added. */
#define JP_ARCH_HAS_THREAD(hwcap2) (((hwcap2)&2U) != 0)
#define JP_ARCH_THREAD_CALL SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */
static inline uint64_t jp_arch_thread_sig(void)
{
    uint64_t thread;
    __asm__ volatile("rdfsbase %0" : "=r"(thread));
    return thread;
}

/* Where, from a thread pointer, the C library has a word by which it can be
 * told, and whether that is it: here it points to itself (ELF Handling For
 * Thread-Local Storage, 3.4.6). */
#define JP_ARCH_THREAD_WORD 0ULL
static inline int jp_arch_thread_is_sound_sig(uint64_t thread, uint64_t word)
{
    return word == thread;
}

/* jp_trap_walk_sig (sig/trap.h): keeps what the caller is to find again, and
 * goes on as jp_walk_sig.  At jp_trap_land, with the trap in rdi and sp as it
 * was, a fault in there returns -1 from it. */
#define JP_ARCH_TRAP_REGISTERS 7
#define JP_ARCH_TRAP                                                          \
    ".pushsection .text\n"                                                    \
    ".balign 16\n.globl jp_trap_walk_sig\n.hidden jp_trap_walk_sig\n"         \
    ".type jp_trap_walk_sig,@function\njp_trap_walk_sig:\n"                   \
    ".cfi_startproc\n"                                                        \
    "movq %rbx, (%rcx)\nmovq %rbp, 8(%rcx)\nmovq %r12, 16(%rcx)\n"            \
    "movq %r13, 24(%rcx)\nmovq %r14, 32(%rcx)\nmovq %r15, 40(%rcx)\n"         \
    "movq %rsp, 48(%rcx)\n"                                                   \
    "jmp jp_walk_sig\n"                                                       \
    ".globl jp_trap_land\n.hidden jp_trap_land\njp_trap_land:\n"              \
    "movq (%rdi), %rbx\nmovq 8(%rdi), %rbp\nmovq 16(%rdi), %r12\n"            \
    "movq 24(%rdi), %r13\nmovq 32(%rdi), %r14\nmovq 40(%rdi), %r15\n"         \
    "movl $-1, %eax\n"                                                        \
    "ret\n"                                                                   \
    ".cfi_endproc\n"                                                          \
    ".size jp_trap_walk_sig,.-jp_trap_walk_sig\n"                             \
    ".popsection\n"

static inline void jp_arch_land_sig(ucontext_t *context, uint64_t pc,
                                    const uint64_t *registers)
{
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    context->uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)registers;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)registers[6];
}

/* The place of a thread pointer in jp_gate_known, below 4096. */
#define JP_ARCH_GATE_PLACE(thread) ((thread) >> 12 & 4095U)

/* A door: says which it is, and goes to the gate. */
#define JP_ARCH_DOOR(name)                                                    \
    ".pushsection .text.jp_doors,\"ax\",@progbits\n"                           \
    ".globl " name "\n"                                                       \
    ".type " name ",@function\n"                                              \
    ".balign 16\n" name ":\n"                                                 \
    ".cfi_startproc\n"                                                        \
    "endbr64\n"                                                               \
    "leaq jp_door_" name "(%rip), %r11\n"                                     \
    "jmp jp_gate\n"                                                           \
    ".cfi_endproc\n"                                                          \
    ".size " name ",.-" name "\n"                                             \
    ".popsection\n"

#define JP_ARCH_PUSH(name) "pushq %" name "\n.cfi_adjust_cfa_offset 8\n"
#define JP_ARCH_POP(name) "popq %" name "\n.cfi_adjust_cfa_offset -8\n"
/* Calls a function, the arguments of the door's caller and its number of
 * vector registers (al) being kept; eight words and the alignment. */
#define JP_ARCH_ASIDE(call)                                                   \
    JP_ARCH_PUSH("rax") JP_ARCH_PUSH("rdi") JP_ARCH_PUSH("rsi")               \
    JP_ARCH_PUSH("rdx") JP_ARCH_PUSH("rcx") JP_ARCH_PUSH("r8")                \
    JP_ARCH_PUSH("r9") JP_ARCH_PUSH("r11") JP_ARCH_PUSH("r11")                \
    call "movq %rax, %r10\n"                                                  \
    JP_ARCH_POP("r11") JP_ARCH_POP("r11") JP_ARCH_POP("r9")                   \
    JP_ARCH_POP("r8") JP_ARCH_POP("rcx") JP_ARCH_POP("rdx")                   \
    JP_ARCH_POP("rsi") JP_ARCH_POP("rdi") JP_ARCH_POP("rax")

/* The gate, door in r11: 1 leads to the C library's function, 3 to the hook;
 * at 2 it is not yet known whose thread it is. */
#define JP_ARCH_GATE                                                          \
    ".pushsection .text.jp_doors,\"ax\",@progbits\n"                           \
    ".type jp_gate,@function\n"                                               \
    ".balign 16\n"                                                            \
    ".hidden jp_gate\n.globl jp_gate\n"                                       \
    "jp_gate:\n"                                                              \
    ".cfi_startproc\n"                                                        \
    "movq jp_owner(%rip), %r10\n"                                             \
    "testq %r10, %r10\n"                                                      \
    "jz 1f\n"                                                                 \
    "cmpl $0, (%r10)\n"                                                       \
    "je 1f\n"                                                                 \
    "cmpb $0, jp_gate_direct(%rip)\n"                                         \
    "je 2f\n"                                                                 \
    "rdfsbase %r10\n"                                                         \
    JP_ARCH_PUSH("rcx") JP_ARCH_PUSH("rdx")                                   \
    "movl %r10d, %ecx\n"                                                      \
    "shrl $12, %ecx\n"                                                        \
    "andl $4095, %ecx\n"                                                      \
    "leaq jp_gate_known(%rip), %rdx\n"                                        \
    "cmpq %r10, (%rdx,%rcx,8)\n"                                              \
    JP_ARCH_POP("rdx") JP_ARCH_POP("rcx")                                     \
    "jne 2f\n"                                                                \
    "testq %r10, %r10\n"                                                      \
    "jz 2f\n"                                                                 \
    "cmpq %r10, (%r10)\n"                                                     \
    "jne 2f\n"                                                                \
    "3: jmp *8(%r11)\n"                                                       \
    "1: jmp *(%r11)\n"                                                        \
    "2:\n"                                                                    \
    JP_ARCH_ASIDE("call jp_gate_ask_sig\n")                                   \
    "testl %r10d, %r10d\n"                                                    \
    "jnz 3b\n"                                                                \
    "jmp 1b\n"                                                                \
    ".cfi_endproc\n"                                                          \
    ".size jp_gate,.-jp_gate\n"                                               \
    ".type jp_door_seek,@function\n"                                          \
    ".balign 16\n"                                                            \
    ".hidden jp_door_seek\n.globl jp_door_seek\n"                             \
    "jp_door_seek:\n"                                                         \
    ".cfi_startproc\n"                                                        \
    JP_ARCH_ASIDE("movq %r11, %rdi\ncall jp_real\n")                          \
    "jmp *%r10\n"                                                             \
    ".cfi_endproc\n"                                                          \
    ".size jp_door_seek,.-jp_door_seek\n"                                     \
    ".popsection\n"

#endif
