/* SPDX-License-Identifier: MIT
 *
 * The program's own seccomp filters, run on jprof's system calls: classic BPF
 * (linux/filter.h, linux/bpf_common.h), as far as seccomp accepts it
 * (seccomp_check_filter in Linux kernel/seccomp.c).
 * Runs in: handler, any thread. */
#include "filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "sig/arch/arch.h"
#include "own.h"
#include "sys.h"

#define STRICT UINT32_MAX

struct jp_filter {
    struct jp_filter *next;
    _Atomic uint32_t count; /* instructions; 0: dropped; STRICT */
    struct sock_filter code[];
};

struct jp_filter *_Atomic jp_filters;

/* The machine that a filter runs on. */
struct machine {
    uint32_t a, x;
    uint32_t memory[BPF_MEMWORDS];
    struct seccomp_data data;
};

static uint32_t arithmetic_sig(uint16_t operation, uint32_t a, uint32_t b)
{
    switch (operation) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_MUL:
        return a * b;
    case BPF_DIV:
        return a / b;
    case BPF_OR:
        return a | b;
    case BPF_AND:
        return a & b;
    case BPF_XOR:
        return a ^ b;
    case BPF_LSH:
        return a << (b & 31);
    case BPF_RSH:
        return a >> (b & 31);
    default: /* BPF_NEG */
        return 0 - a;
    }
}

static int holds_sig(uint16_t condition, uint32_t a, uint32_t b)
{
    switch (condition) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    default: /* BPF_JSET */
        return (a & b) != 0;
    }
}

/* Finds the value that a load puts into a or x.  Returns 0 for a load that
 * seccomp does not have. */
static int load_sig(const struct machine *machine,
                    const struct sock_filter *code, uint32_t *value)
{
    switch (BPF_MODE(code->code)) {
    case BPF_IMM:
        *value = code->k;
        return 1;
    case BPF_LEN:
        *value = sizeof(machine->data);
        return 1;
    case BPF_MEM:
        if (code->k >= BPF_MEMWORDS)
            return 0;
        *value = machine->memory[code->k];
        return 1;
    case BPF_ABS:
        if (code->k > sizeof(machine->data) - sizeof(*value))
            return 0;
        memcpy(value, (const uint8_t *)&machine->data + code->k,
               sizeof(*value));
        return 1;
    default:
        return 0;
    }
}

/* Runs one instruction.  Returns how many to skip after it, or -1 for an
 * instruction that seccomp does not have. */
static int64_t step_sig(struct machine *machine, const struct sock_filter *code)
{
    const uint32_t operand =
        BPF_SRC(code->code) == BPF_X ? machine->x : code->k;
    switch (BPF_CLASS(code->code)) {
    case BPF_LD:
        return load_sig(machine, code, &machine->a) ? 0 : -1;
    case BPF_LDX:
        return load_sig(machine, code, &machine->x) ? 0 : -1;
    case BPF_ST:
    case BPF_STX:
        if (code->k >= BPF_MEMWORDS)
            return -1;
        machine->memory[code->k] =
            BPF_CLASS(code->code) == BPF_ST ? machine->a : machine->x;
        return 0;
    case BPF_ALU:
        if (BPF_OP(code->code) == BPF_DIV && operand == 0)
            return -1; /* the filter then answers 0, which kills, too */
        machine->a = arithmetic_sig(BPF_OP(code->code), machine->a, operand);
        return 0;
    case BPF_JMP:
        if (BPF_OP(code->code) == BPF_JA)
            return code->k;
        return holds_sig(BPF_OP(code->code), machine->a, operand) ? code->jt
                                                                  : code->jf;
    case BPF_MISC:
        if (BPF_MISCOP(code->code) == BPF_TAX)
            machine->x = machine->a;
        else
            machine->a = machine->x;
        return 0;
    default:
        return -1;
    }
}

/* Ends, as jumps lead forward only. */
uint32_t jp_filter_run_sig(const struct sock_filter *code, uint32_t count,
                           long number, const long arguments[6])
{
    struct machine machine = {
        .data = {.nr = (int)number, .arch = JP_ARCH_AUDIT}};
    for (unsigned i = 0; i < 6; i++)
        machine.data.args[i] = (uint64_t)arguments[i];
    for (uint64_t at = 0; at < count; at++) {
        if (BPF_CLASS(code[at].code) == BPF_RET)
            return BPF_RVAL(code[at].code) == BPF_A ? machine.a : code[at].k;
        int64_t skip = step_sig(&machine, &code[at]);
        if (skip < 0)
            break;
        at += (uint64_t)skip;
    }
    return SECCOMP_RET_KILL_THREAD;
}

static struct jp_filter *keep_sig(uint32_t count)
{
    const size_t size = count == STRICT ? 0 : count;
    struct jp_filter *filter = jp_sys_memory_sig(
        sizeof(*filter) + size * sizeof(filter->code[0]), JP_FORK_KEEP);
    if (filter != NULL)
        atomic_store(&filter->count, count);
    return filter;
}

static struct jp_filter *enter_sig(struct jp_filter *filter)
{
    struct jp_filter *first = atomic_load(&jp_filters);
    jp_sys_verdict *none = NULL;
    do {
        filter->next = first;
    } while (!atomic_compare_exchange_weak(&jp_filters, &first, filter));
    /* (That of state/dispatched.c asks the filters, too.) */
    atomic_compare_exchange_strong(&jp_sys_judge, &none, jp_filter_verdict_sig);
    return filter;
}

struct jp_filter *jp_filter_add_sig(uint64_t code, uint32_t count)
{
    if (count == 0 || count > BPF_MAXINSNS)
        return NULL;
    struct jp_filter *filter = keep_sig(count);
    const size_t size = count * sizeof(filter->code[0]);
    if (filter == NULL)
        return NULL;
    if (jp_self_read_sig(code, filter->code, size) != (long)size) {
        jp_sys_unmap_sig(filter, sizeof(*filter) + size);
        return NULL;
    }
    return enter_sig(filter);
}

struct jp_filter *jp_filter_strict_sig(void)
{
    struct jp_filter *filter = keep_sig(STRICT);
    return filter != NULL ? enter_sig(filter) : NULL;
}

void jp_filter_drop_sig(struct jp_filter *filter)
{
    atomic_store(&filter->count, 0);
}

static uint32_t answer_sig(const struct jp_filter *filter, long number,
                           const long arguments[6])
{
    const uint32_t count = atomic_load(&filter->count);
    if (count == 0)
        return SECCOMP_RET_ALLOW;
    if (count != STRICT)
        return jp_filter_run_sig(filter->code, count, number, arguments);
    return number == SYS_read || number == SYS_write || number == SYS_exit ||
                   number == SYS_rt_sigreturn
               ? SECCOMP_RET_ALLOW
               : SECCOMP_RET_KILL_THREAD;
}

/* The hardest answer of all filters counts; as signed numbers, harder answers
 * are smaller. */
static uint32_t hardest_sig(long number, const long arguments[6])
{
    uint32_t hardest = SECCOMP_RET_ALLOW;
    for (const struct jp_filter *filter = atomic_load(&jp_filters);
         filter != NULL; filter = filter->next) {
        uint32_t answer = answer_sig(filter, number, arguments);
        if ((int32_t)(answer & SECCOMP_RET_ACTION_FULL) <
            (int32_t)(hardest & SECCOMP_RET_ACTION_FULL))
            hardest = answer;
    }
    return hardest;
}

int jp_filter_verdict_sig(long number, const long arguments[6])
{
    const uint32_t hardest = hardest_sig(number, arguments);
    const uint32_t error = hardest & SECCOMP_RET_DATA;
    switch (hardest & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
        return 0;
    case SECCOMP_RET_ERRNO:
        return error > 0 && error < 4096 ? -(int)error : -EPERM;
    default:
        return -EPERM;
    }
}

int jp_filter_answers_sig(long number)
{
    const long none[6] = {0, 0, 0, 0, 0, 0};
    const uint32_t hardest = hardest_sig(number, none);
    return (hardest & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO &&
           (hardest & SECCOMP_RET_DATA) != 0;
}
