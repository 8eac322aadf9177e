/* SPDX-License-Identifier: MIT
 *
 * x86-64: system calls and the registers of an interrupted context.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_X86_64_H
#define JP_ARCH_X86_64_H

#include <cpuid.h>
#include <elf.h>
#include <linux/audit.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "function.h"
#include "restorer.h"
#include "x86_64_step.h"

#define JP_ARCH_MACHINE EM_X86_64
#define JP_ARCH_AUDIT AUDIT_ARCH_X86_64 /* seccomp_data.arch */

/* System calls that differ between machines: the one that renames a file (its
 * fifth argument, flags, is ignored by renameat); the one that fills a struct
 * stat from a folder, a name and flags; interruptible calls that some machines
 * lack, for jp_retry_force_eintr; whether a number is fork's. */
#define JP_ARCH_RENAME SYS_renameat
#define JP_ARCH_STAT SYS_newfstatat
#define JP_ARCH_MORE_CALLS SYS_open,
#define JP_ARCH_IS_FORK(number) ((number) == SYS_fork)

/* Makes a system call with up to six arguments.  Returns the kernel's answer,
 * -errno (-4095 to -1) on failure, and leaves errno alone.  The arguments are
 * read first: in a build with ThreadSanitizer each read calls a function, which
 * would overwrite the registers that are set already. */
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

/* Atomically sets *byte to `to` if it is `from`, and returns whether it was.
 * (A function of its own, as some machines have no such instruction for
 * bytes.) */
static inline int jp_arch_swap_byte_sig(_Atomic uint8_t *byte, uint8_t from,
                                        uint8_t to)
{
    return atomic_compare_exchange_strong(byte, &from, to);
}

#define JP_ARCH_REG_PC(context) ((context)->uc_mcontext.gregs[REG_RIP])
#define JP_ARCH_REG_SP(context) ((context)->uc_mcontext.gregs[REG_RSP])
#define JP_ARCH_REG_FP(context) ((context)->uc_mcontext.gregs[REG_RBP])
#define JP_ARCH_REG_NUMBER(context) ((context)->uc_mcontext.gregs[REG_RAX])
#define JP_ARCH_REG_RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#define JP_ARCH_REG_FIRST(context) ((context)->uc_mcontext.gregs[REG_RDI])
#define JP_ARCH_REG_SECOND(context) ((context)->uc_mcontext.gregs[REG_RSI])
#define JP_ARCH_REG_THIRD(context) ((context)->uc_mcontext.gregs[REG_RDX])

#define JP_ARCH_SYSCALL_BYTES 2U
static inline int jp_arch_is_syscall_sig(const uint8_t *code)
{
    return code[0] == 0x0f && code[1] == 0x05;
}

/* (rt_sigframe: arch/x86/include/asm/sigframe.h in Linux; the kernel sets the
 * registers in x64_setup_rt_frame.) */
#define JP_ARCH_FRAME_CONTEXT 8U
#define JP_ARCH_FRAME_INFO (JP_ARCH_FRAME_CONTEXT + 304U)

#define JP_ARCH_TRAP_SP 6
#define JP_ARCH_TRAP_REGISTERS 8

#include "context.h"

/* Returns the number of the system call that the interrupted thread has just
 * returned from, or -1 when it is not known.  The result has taken the place of
 * the number, so that is sought in the code: mov $NUMBER, %eax. */
static inline long jp_arch_left_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    if ((intptr_t)code < 0 || ((uintptr_t)code & 4095) < 16 ||
        code[-2] != 0x0f || code[-1] != 0x05)
        return -1;
    for (int i = 7; i <= 16; i++)
        if (code[-i] == 0xb8 && code[3 - i] == 0 && code[4 - i] == 0)
            return code[1 - i] | code[2 - i] << 8;
    return -1;
}

/* Whether the kernel makes the system call again that the thread is about to
 * make: the instruction syscall has left the next address in rcx.  (Where it
 * keeps rcx, as on processors with FRED, no call is taken for one that is made
 * again.) */
static inline int jp_arch_again_sig(const ucontext_t *context)
{
    return jp_arch_call_sig(context) >= 0 &&
           (uint64_t)context->uc_mcontext.gregs[REG_RCX] ==
               jp_arch_pc_sig(context) + 2;
}

/* Whether no call that is made again looks like one of the first time. */
static inline int jp_arch_tells_again(void)
{
    long number = SYS_getpid;
    uint64_t next = 0;
    __asm__ volatile("syscall" : "+a"(number), "+c"(next) : : "r11", "memory");
    return next != 0;
}

/* Called before a system call, that it is not taken for one that is made again:
 * the one before it may have been made by the same instruction. */
static inline void jp_arch_first_time(void)
{
    __asm__ volatile("xorl %%ecx, %%ecx" : : : "rcx", "cc");
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

/* Whether the instruction at `code` pushes the frame pointer alone. */
static inline int jp_arch_pushes_fp_sig(const uint8_t *code)
{
    return *code == 0x55;
}

/* See aarch64.h.  Always 0: here linkers' stubs have call-frame information. */
static inline int jp_arch_stub_sig(const ucontext_t *context, uint64_t *pushed)
{
    (void)context;
    *pushed = 0;
    return 0;
}

/* Returns N if the code behind a call is `add $N,%rsp; ret`, the end of a
 * function without a frame pointer, else -1.  CPython's perf trampolines end so
 * (Python/asm_trampoline.S), in memory without call-frame information. */
#define JP_ARCH_BARE_BYTES 5
static inline int jp_arch_bare_return_sig(const uint8_t *code)
{
    return code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 &&
                   code[3] < 0x80 && code[3] % 8 == 0 && code[4] == 0xc3
               ? code[3]
               : -1;
}

/* The first byte of hlt, which no program may execute: behind a call it says
 * that the call never returns (glibc's sysdeps/x86_64/start.S, Free Pascal's
 * rtl/linux/x86_64/si_c.inc). */
#define JP_ARCH_HALT 0xf4

/* What the call instruction before the return address `to` says of the function
 * that it called (step.h); *target is set for DIRECT and MEMORY.  `code` has
 * the bytes around `to`.  Besides a plain call these of V8 are known: call
 * *N(%r13), where r13 is its root register; mov $T,%r10; call *%r10; and call
 * *%rcx; mov N(%rbp),%r12, by which its interpreter calls the handler of a
 * bytecode (builtins-x64.cc, Generate_InterpreterEntryTrampoline,
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

/* Whether the JP_ARCH_CALL_BYTES before an address, at `code`, end with a call
 * instruction: e8 and 4 bytes, or ff /2 with an operand of any form.  An
 * address that follows no call was not pushed by one.  (Intel SDM, volume 2,
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

/* Whether the interrupted function has restored its caller's frame pointer
 * already although the call-frame information still says that it is saved
 * relative to the frame pointer.  GCC says so up to the end of a function that
 * realigned its stack, past `leave`: lea -8(%r10),%rsp and ret are left. */
static inline int jp_arch_fp_popped_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    return code[0] == 0xc3 || (code[0] == 0x49 && code[1] == 0x8d &&
                               code[2] == 0x62 && code[3] == 0xf8);
}

/* DWARF's register numbers (System V ABI for AMD64, 3.6.2); number 16 is the
 * return address, and the pc here.  SAVED lists the callee-saved registers
 * besides the stack and frame pointers. */
#define JP_ARCH_REGISTERS 17U
#define JP_ARCH_SP 7U
#define JP_ARCH_FP 6U
#define JP_ARCH_RA 16U
#define JP_ARCH_PC 16U
#define JP_ARCH_SAVED {3, 12, 13, 14, 15}
#define JP_ARCH_SAVED_COUNT 5U
/* 1: a call pushes its return address, so every frame takes stack. */
#define JP_ARCH_CALL_PUSHES 1
/* 0: a frame pointer points to the high end of its frame, where the caller's
 * frame begins. */
#define JP_ARCH_FRAMES_LOW 0
/* The frame record, in bytes from the frame pointer: the caller's frame
 * pointer, the return address, and where the record ends (System V ABI for
 * AMD64, figure 3.3). */
#define JP_ARCH_FRAME_FP 0ULL
#define JP_ARCH_FRAME_RA 8ULL
#define JP_ARCH_FRAME_END 16ULL
/* How many words a linker's stub may have put above its CFA. */
#define JP_ARCH_STUB_WORDS 0

/* The red zone: bytes below sp that a leaf function may use, and that the
 * kernel leaves alone when it delivers a signal. */
#define JP_ARCH_RED_ZONE 128U

/* The kernel refuses alternate signal stacks of fewer bytes (MINSIGSTKSZ,
 * sigaltstack(2)). */
#define JP_ARCH_LEAST_STACK 2048U

/* Where the interrupted context is while the return trampoline of a signal
 * handler runs, in bytes from sp; JP_ARCH_SIGNAL_BYTES of it are read. */
#define JP_ARCH_SIGNAL_CONTEXT 0U
/* The trampoline's code: mov $__NR_rt_sigreturn,%rax; syscall.  glibc's
 * trampoline has call-frame information, others may have none. */
#define JP_ARCH_SIGRETURN {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}
#define JP_ARCH_SIGRETURN_FIRST 7U /* bytes of its first instruction */
#define JP_ARCH_SIGNAL_BYTES                                                  \
    (offsetof(ucontext_t, uc_mcontext.gregs) + (REG_RIP + 1) * 8U)

/* Stores the context's registers in `registers`, by their DWARF numbers. */
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

/* Returns a return address without its signature (pointer authentication). */
static inline uint64_t jp_arch_strip_sig(uint64_t address)
{
    return address;
}

/* The thread pointer is read by an instruction where AT_HWCAP2 says that the
 * kernel allows it (FSGSBASE, Linux 5.9; valgrind's says that it does not), and
 * else by the system call JP_ARCH_THREAD_CALL, whose next argument is the
 * address of the answer. */
#define JP_ARCH_HAS_THREAD(hwcap2) (((hwcap2)&2U) != 0)
#define JP_ARCH_THREAD_CALL SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */
static inline uint64_t jp_arch_thread_sig(void)
{
    uint64_t thread;
    __asm__ volatile("rdfsbase %0" : "=r"(thread));
    return thread;
}

/* Whether memory may have protection keys: bit OSPKE of CPUID's leaf 7, in ECX
 * (Intel SDM, volume 2, CPUID). */
static inline int jp_arch_has_keys(void)
{
    uint32_t a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & 1U << 4) != 0;
}

/* Whether valgrind runs the process: its request RUNNING_ON_VALGRIND (0x1001,
 * valgrind.h), made by instructions that elsewhere change nothing.  The
 * request's address is in rax; what rdx has is the answer where nobody gives
 * one. */
static inline int jp_arch_in_valgrind(void)
{
    const uint64_t request[6] = {0x1001};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\nrolq $13, %%rdi\n"
                     "rolq $61, %%rdi\nrolq $51, %%rdi\n"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer != 0;
}

/* Assembly of the function `name`, in a section of code: a signal handler that
 * lets the thread access memory of all keys before it touches its stack, which
 * may have a key as well, and goes on as the function `to`.  That gets the
 * rights that the kernel began the handler with as a fourth argument;
 * rt_sigreturn gives back those of the interrupted code.  (PKRU has two bits a
 * key, one that forbids to access and one that forbids to write.  rdpkru and
 * wrpkru have it in eax, and want 0 in ecx; the second wants 0 in edx as well,
 * where the handler's third argument is, and the first puts it there: Intel
 * SDM, volume 2.) */
#define JP_ARCH_KEYS_ENTER(section, name, to)                                  \
    JP_ARCH_FUNCTION(section, "16", name,                                      \
        ".hidden " name "\n"                                                   \
        "endbr64\n"                                                            \
        "movq %rdx, %r8\n"                                                     \
        "xorl %ecx, %ecx\n"                                                    \
        "rdpkru\n"                                                             \
        "movl %eax, %r9d\n"                                                    \
        "xorl %eax, %eax\n"                                                    \
        "wrpkru\n"                                                             \
        "movl %r9d, %ecx\n"                                                    \
        "movq %r8, %rdx\n"                                                     \
        "jmp " to "\n")

/* Assembly of the function `name`, which gives the thread the rights in its
 * fourth argument and goes on as the function in its fifth, with the first
 * three.  It touches no stack either. */
#define JP_ARCH_KEYS_LEAVE(name)                                               \
    JP_ARCH_FUNCTION(".text", "16", name,                                      \
        ".hidden " name "\n"                                                   \
        "endbr64\n"                                                            \
        "movq %rdx, %r9\n"                                                     \
        "movl %ecx, %eax\n"                                                    \
        "xorl %ecx, %ecx\n"                                                    \
        "xorl %edx, %edx\n"                                                    \
        "wrpkru\n"                                                             \
        "movq %r9, %rdx\n"                                                     \
        "jmp *%r8\n")

/* A thread pointer that the C library made is recognised by the word at this
 * offset from it: here the word points to itself (ELF Handling For Thread-Local
 * Storage, 3.4.6).  The function tells whether `word` is such. */
#define JP_ARCH_THREAD_WORD 0ULL
static inline int jp_arch_thread_is_sound_sig(uint64_t thread, uint64_t word)
{
    return word == thread;
}

/* jp_trap_walk_sig (sig/trap.h): saves the callee-saved registers, sp and the
 * shadow stack's pointer in *trap (rcx) and goes on as jp_walk_sig.  After a
 * fault in the walk jp_trap_sig makes the thread go on at jp_trap_land, with
 * the trap in rdi and sp as it was: that restores the registers, takes the
 * return addresses of the frames that are gone off the shadow stack, and
 * returns -1 to the caller.  rdsspq leaves 0 where there is no shadow stack;
 * incsspq takes up to 255 words off (Intel SDM, volume 2).  Older assemblers
 * know neither. */
#define JP_ARCH_RDSSPQ_RAX                                                    \
    "xorl %eax, %eax\n.byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8\n"
#define JP_ARCH_INCSSPQ_RAX ".byte 0xf3, 0x48, 0x0f, 0xae, 0xe8\n"
#define JP_ARCH_TRAP                                                           \
    JP_ARCH_FUNCTION(".text", "16", "jp_trap_walk_sig",                        \
    ".hidden jp_trap_walk_sig\n"                                               \
    "movq %rbx, (%rcx)\nmovq %rbp, 8(%rcx)\nmovq %r12, 16(%rcx)\n"             \
    "movq %r13, 24(%rcx)\nmovq %r14, 32(%rcx)\nmovq %r15, 40(%rcx)\n"          \
    "movq %rsp, 48(%rcx)\n"                                                    \
    JP_ARCH_RDSSPQ_RAX                                                         \
    "movq %rax, 56(%rcx)\n"                                                    \
    "jmp jp_walk_sig\n"                                                        \
    ".globl jp_trap_land\n.hidden jp_trap_land\njp_trap_land:\n"               \
    "movq (%rdi), %rbx\nmovq 8(%rdi), %rbp\nmovq 16(%rdi), %r12\n"             \
    "movq 24(%rdi), %r13\nmovq 32(%rdi), %r14\nmovq 40(%rdi), %r15\n"          \
    JP_ARCH_RDSSPQ_RAX                                                         \
    "testq %rax, %rax\njz 2f\n"                                                \
    "movq 56(%rdi), %rcx\nsubq %rax, %rcx\nshrq $3, %rcx\n"                    \
    "1: movl $255, %eax\ncmpq %rax, %rcx\ncmovbq %rcx, %rax\n"                 \
    JP_ARCH_INCSSPQ_RAX                                                        \
    "subq %rax, %rcx\njnz 1b\n"                                                \
    "2: movl $-1, %eax\n"                                                      \
    "ret\n")

/* The oldest version of glibc's symbols, that of all that were there when the
 * machine came (glibc, sysdeps/unix/sysv/linux/x86_64/64/libc.abilist).  Here
 * there are versions as well from before 2.17, where other machines begin. */
#define JP_ARCH_GLIBC "GLIBC_2.2.5"
#define JP_ARCH_OLDER 1

/* A stub, an exported function of the hook `id`: it passes its record on in r11
 * and goes to the gate. */
#define JP_ARCH_ENTRY_STUB(name, id)                                           \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", name,                       \
        "endbr64\n"                                                            \
        "leaq jp_entry_stub_" id "(%rip), %r11\n"                              \
        "jmp jp_gate\n")

#define JP_ARCH_PUSH(name) "pushq %" name "\n.cfi_adjust_cfa_offset 8\n"
#define JP_ARCH_POP(name) "popq %" name "\n.cfi_adjust_cfa_offset -8\n"
/* Calls a function and saves the arguments of the stub's caller and its number
 * of vector registers (al) around the call; the answer is in r10.  Eight words
 * are pushed, and one for the alignment. */
#define JP_ARCH_ASIDE(call)                                                   \
    JP_ARCH_PUSH("rax") JP_ARCH_PUSH("rdi") JP_ARCH_PUSH("rsi")               \
    JP_ARCH_PUSH("rdx") JP_ARCH_PUSH("rcx") JP_ARCH_PUSH("r8")                \
    JP_ARCH_PUSH("r9") JP_ARCH_PUSH("r11") JP_ARCH_PUSH("r11")                \
    call "movq %rax, %r10\n"                                                  \
    JP_ARCH_POP("r11") JP_ARCH_POP("r11") JP_ARCH_POP("r9")                   \
    JP_ARCH_POP("r8") JP_ARCH_POP("rcx") JP_ARCH_POP("rdx")                   \
    JP_ARCH_POP("rsi") JP_ARCH_POP("rdi") JP_ARCH_POP("rax")

/* The gate; the stub's record is in r11.  Label 1 goes on to the C library's
 * function and 3 to the hook; 2 asks jp_gate_ask_sig whether the thread is one
 * of the C library's. */
#define JP_ARCH_GATE                                                           \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", "jp_gate",                  \
    ".hidden jp_gate\n"                                                        \
    "movq jp_owner(%rip), %r10\n"                                              \
    "testq %r10, %r10\n"                                                       \
    "jz 1f\n"                                                                  \
    "cmpl $0, (%r10)\n"                                                        \
    "je 1f\n"                                                                  \
    "cmpb $0, jp_gate_direct(%rip)\n"                                          \
    "je 2f\n"                                                                  \
    "rdfsbase %r10\n"                                                          \
    JP_ARCH_PUSH("rcx") JP_ARCH_PUSH("rdx")                                    \
    "movl %r10d, %ecx\n"                                                       \
    "shrl $12, %ecx\n"                                                         \
    "andl $4095, %ecx\n"                                                       \
    "leaq jp_gate_known(%rip), %rdx\n"                                         \
    "cmpq %r10, (%rdx,%rcx,8)\n"                                               \
    JP_ARCH_POP("rdx") JP_ARCH_POP("rcx")                                      \
    "jne 2f\n"                                                                 \
    "testq %r10, %r10\n"                                                       \
    "jz 2f\n"                                                                  \
    "cmpq %r10, (%r10)\n"                                                      \
    "jne 2f\n"                                                                 \
    "3: jmp *8(%r11)\n"                                                        \
    "1: jmp *(%r11)\n"                                                         \
    "2:\n"                                                                     \
    JP_ARCH_ASIDE("call jp_gate_ask_sig\n")                                    \
    "testl %r10d, %r10d\n"                                                     \
    "jnz 3b\n"                                                                 \
    "jmp 1b\n")                                                                \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", "jp_entry_stub_seek",       \
    ".hidden jp_entry_stub_seek\n"                                             \
    "endbr64\n"                                                                \
    JP_ARCH_ASIDE("movq %r11, %rdi\ncall jp_real\n")                           \
    "jmp *%r10\n")

#endif
