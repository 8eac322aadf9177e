/* SPDX-License-Identifier: MIT
 *
 * Preloaded into gdb, so that it can write registers on processors with AMX:
 * gdb 13 writes as much of the extended state as it knows, and the kernel takes
 * the whole of it only (xstateregs_set, arch/x86/kernel/fpu/regset.c in Linux).
 * The rest is written as it is.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXTENDED_STATE 0x202 /* NT_X86_XSTATE, elf.h */

/* The program that gdb runs does not have it. */
__attribute__((constructor)) static void forget(void)
{
    unsetenv("LD_PRELOAD");
}

static long write_whole(long pid, const struct iovec *part)
{
    static uint8_t state[65536];
    struct iovec whole = {state, sizeof(state)};
    long result = syscall(SYS_ptrace, PTRACE_GETREGSET, pid,
                          (long)EXTENDED_STATE, &whole);
    if (result != 0 || whole.iov_len < part->iov_len)
        whole.iov_len = part->iov_len;
    memcpy(state, part->iov_base, part->iov_len);
    return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, (long)EXTENDED_STATE,
                   &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list more;
    va_start(more, request);
    const long pid = va_arg(more, int);
    void *address = va_arg(more, void *);
    void *data = va_arg(more, void *);
    va_end(more);
    if (request == PTRACE_SETREGSET && (uintptr_t)address == EXTENDED_STATE &&
        ((struct iovec *)data)->iov_len <= 32768)
        return write_whole(pid, data);
    /* PEEK requests give their word back (ptrace(2)). */
    long word = 0;
    const int peeks = request == PTRACE_PEEKTEXT ||
                      request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER;
    const long result = syscall(SYS_ptrace, request, pid, address,
                                peeks ? (void *)&word : data);
    return peeks && result == 0 ? word : result;
}
