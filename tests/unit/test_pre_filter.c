/* SPDX-License-Identifier: MIT
 *
 * Unit tests of preload/sig/os/filter.c: the answers of classic BPF programs
 * are those that the kernel gives to the same programs.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sig/os/filter.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define RANDOM_FILTERS 300
#define KILLED 1000
#define DATA(field) ((uint32_t)offsetof(struct seccomp_data, field))

/* The kernel's answer: what getppid with these arguments returns in a child
 * behind the filter: the errno, 0 when it passes, KILLED; -1 when the kernel
 * does not take the filter. */
static int ask_kernel(struct sock_filter *code, uint32_t count, const long a[6])
{
    const struct sock_fprog program = {(unsigned short)count, code};
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            _exit(255);
        long got = syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]);
        _exit(got < 0 ? errno : 0);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status))
        return KILLED;
    return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

static int ask(const struct sock_filter *code, uint32_t count, const long a[6])
{
    uint32_t answer = jp_filter_run_sig(code, count, SYS_getppid, a);
    if ((answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW)
        return 0;
    if (answer == SECCOMP_RET_KILL_THREAD)
        return KILLED;
    assert_int_equal(answer & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
    return (int)(answer & SECCOMP_RET_DATA);
}

/* Some code on a and x, then: for getppid the answer ERRNO with seven bits of
 * a; for anything else, which the child needs to end, ALLOW. */
static uint32_t make(struct sock_filter *code)
{
    static const uint16_t operations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_OR,
                                          BPF_AND, BPF_XOR, BPF_NEG, BPF_LSH,
                                          BPF_RSH, BPF_DIV};
    static const uint16_t jumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    uint32_t count = 0;
    code[count++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA(nr));
    code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 SYS_getppid, 1, 0);
    code[count++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    for (uint32_t i = 0; i < BPF_MEMWORDS; i++)
        code[count++] = (struct sock_filter)BPF_STMT(BPF_ST, i);
    for (unsigned i = 0; i < 30; i++) {
        const uint32_t k = (uint32_t)random();
        switch (random() % 8) {
        case 0:
            code[count++] = (struct sock_filter)BPF_STMT(
                BPF_LD | BPF_W | BPF_ABS, k % 16 * 4);
            break;
        case 1:
            code[count++] = (struct sock_filter)BPF_STMT(
                BPF_MISC | (k & 1 ? BPF_TAX : BPF_TXA), 0);
            break;
        case 2:
            code[count++] = (struct sock_filter)BPF_STMT(
                (k & 1 ? BPF_ST : BPF_STX), k >> 8 & 15);
            break;
        case 3:
            code[count++] = (struct sock_filter)BPF_STMT(
                (k & 1 ? BPF_LD : BPF_LDX) | BPF_W | BPF_MEM, k >> 8 & 15);
            break;
        case 4:
            code[count++] = (struct sock_filter)BPF_STMT(
                (k & 1 ? BPF_LD : BPF_LDX) |
                    (uint16_t)(k & 2 ? BPF_IMM : BPF_W | BPF_LEN),
                k >> 16);
            break;
        case 5:
            code[count++] = (struct sock_filter)BPF_JUMP(
                BPF_JMP | jumps[k % 4] | (k & 16 ? BPF_X : BPF_K), k >> 8,
                k >> 5 & 1, k >> 6 & 1);
            break;
        default: {
            const uint16_t operation = operations[k % COUNT(operations)];
            const uint16_t source =
                k & 256 && operation != BPF_NEG ? BPF_X : BPF_K;
            code[count++] = (struct sock_filter)BPF_STMT(
                BPF_ALU | operation | source, (k >> 12 & 31) | 1);
            break;
        }
        }
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 3);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 3);
    code[count++] =
        (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 127);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K,
                                                 SECCOMP_RET_ERRNO);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    return count;
}

static void test_as_the_kernel(void **state)
{
    struct sock_filter code[128];
    unsigned taken = 0, told = 0;
    (void)state;
    srandom(4711);
    for (unsigned i = 0; i < RANDOM_FILTERS; i++) {
        long a[6];
        for (unsigned j = 0; j < 6; j++)
            a[j] = random() << 31 | random();
        uint32_t count = make(code);
        int kernel = ask_kernel(code, count, a);
        if (kernel < 0)
            continue;
        taken++;
        told += kernel != 0;
        /* It tells the instruction's address too, which nobody can know. */
        if (kernel != ask(code, count, a)) {
            int reads_address = 0;
            for (uint32_t n = 0; n < count; n++)
                reads_address |= code[n].code == (BPF_LD | BPF_W | BPF_ABS) &&
                                 (code[n].k == DATA(instruction_pointer) ||
                                  code[n].k == DATA(instruction_pointer) + 4);
            assert_true(reads_address);
        }
    }
    assert_true(taken > RANDOM_FILTERS / 2);
    assert_true(told > taken / 4);
}

static void test_unsound_code(void **state)
{
    const long none[6] = {0};
    const struct sock_filter codes[][1] = {
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64)},
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, UINT32_MAX)},
        {BPF_STMT(BPF_LD | BPF_W | BPF_MEM, BPF_MEMWORDS)},
        {BPF_STMT(BPF_ST, BPF_MEMWORDS)},
        {BPF_STMT(BPF_LD | BPF_B | BPF_IND, 0)},
        {BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX)},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++)
        assert_int_equal(jp_filter_run_sig(codes[i], 1, 0, none),
                         SECCOMP_RET_KILL_THREAD);
    assert_int_equal(jp_filter_run_sig(codes[0], 0, 0, none),
                     SECCOMP_RET_KILL_THREAD);
}

static void test_verdicts(void **state)
{
    const long none[6] = {0};
    struct sock_filter refuse[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA(nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_filter harder[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)};
    (void)state;
    assert_int_equal(jp_filter_number_sig(SYS_openat), 0);
    assert_null(jp_filter_add_sig(8, 3));
    assert_null(jp_filter_add_sig((uint64_t)refuse, 0));
    assert_null(jp_filter_add_sig((uint64_t)refuse, 5000));
    assert_non_null(jp_filter_add_sig((uint64_t)refuse, COUNT(refuse)));
    assert_int_equal(jp_filter_number_sig(SYS_openat), -EACCES);
    assert_int_equal(jp_filter_number_sig(SYS_read), 0);
    struct jp_filter *trap = jp_filter_add_sig((uint64_t)harder, 1);
    assert_int_equal(jp_filter_verdict_sig(SYS_openat, none), -EPERM);
    jp_filter_drop_sig(trap);
    assert_int_equal(jp_filter_verdict_sig(SYS_openat, none), -EACCES);
    struct jp_filter *strict = jp_filter_strict_sig();
    assert_int_equal(jp_filter_number_sig(SYS_read), 0);
    assert_int_equal(jp_filter_number_sig(SYS_getpid), -EPERM);
    jp_filter_drop_sig(strict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_kernel),
        cmocka_unit_test(test_unsound_code),
        cmocka_unit_test(test_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
