/* SPDX-License-Identifier: MIT
 *
 * DWARF expressions, operation by operation, and what is a call and what not.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>

#include <cmocka.h>

#include "../../preload/sig/arch/arch.h"
#include "../../preload/sig/unwind/cfi/cfi_expr.h"

/* Every operation that libgcc reads, worked out with registers (register n is
 * 1000 + n; a word of memory is its address plus one). */
static int read_next(void *data, uint64_t address, uint64_t *word)
{
    (void)data;
    *word = address + 1;
    return address != 13;
}

static void test_operations(void **state)
{
    static const struct {
        uint8_t size, code[20];
        uint64_t value;
    } cases[] = {
        {1, {0x57}, 1007},                        /* reg7 */
        {2, {0x90, 3}, 1003},                     /* regx */
        {2, {0x76, 0x7f}, 1005},                  /* breg6 -1 */
        {3, {0x92, 3, 2}, 1005},                  /* bregx */
        {4, {0x57, 0x06, 0x23, 56}, 1064},        /* deref, plus_uconst */
        {3, {0x57, 0x94, 1}, 1008 & 255},         /* deref_size */
        {9, {0x03, 1, 2, 0, 0, 0, 0, 0, 0}, 513}, /* addr */
        {2, {0x08, 255}, 255},                    /* const1u, 1s, 2u, 2s */
        {2, {0x09, 255}, UINT64_MAX},
        {3, {0x0a, 255, 255}, 65535},
        {3, {0x0b, 255, 255}, UINT64_MAX},
        {5, {0x0d, 254, 255, 255, 255}, UINT64_MAX - 1}, /* const4s */
        {3, {0x10, 0x80, 1}, 128},                       /* constu, consts */
        {2, {0x11, 0x7f}, UINT64_MAX},
        {3, {0x32, 0x12, 0x22}, 4},          /* lit2, dup, plus */
        {3, {0x32, 0x33, 0x13}, 2},          /* drop */
        {4, {0x32, 0x33, 0x14, 0x1c}, 1},    /* over, minus */
        {5, {0x32, 0x33, 0x15, 1, 0x1e}, 6}, /* pick, mul */
        {4, {0x32, 0x33, 0x16, 0x1c}, 1},    /* swap */
        {6, {0x31, 0x32, 0x34, 0x17, 0x1c, 0x1e}, UINT64_MAX - 3}, /* rot */
        {3, {0x11, 0x7d, 0x19}, 3},                                /* abs */
        {2, {0x33, 0x1f}, (uint64_t)-3},                           /* neg */
        {2, {0x33, 0x20}, ~3ULL},                                  /* not */
        {3, {0x36, 0x33, 0x1a}, 2}, /* and, or, xor */
        {3, {0x36, 0x33, 0x21}, 7},
        {3, {0x36, 0x33, 0x27}, 5},
        {4, {0x11, 0x79, 0x32, 0x1b}, (uint64_t)-3}, /* div */
        {3, {0x37, 0x34, 0x1d}, 3},                  /* mod */
        {3, {0x33, 0x34, 0x24}, 48},                 /* shl, shr, shra */
        {3, {0x3f, 0x32, 0x25}, 3},
        {4, {0x11, 0x78, 0x31, 0x26}, (uint64_t)-4},
        {3, {0x33, 0x34, 0x29}, 0}, /* eq, ge, gt, le, lt, ne */
        {3, {0x33, 0x34, 0x2a}, 0},
        {3, {0x34, 0x33, 0x2b}, 1},
        {3, {0x34, 0x33, 0x2c}, 0},
        {3, {0x33, 0x34, 0x2d}, 1},
        {3, {0x33, 0x34, 0x2e}, 1},
        {8, {0x57, 0x28, 1, 0, 0x30, 0x96, 0x35, 0x96}, 5}, /* bra, nop */
        {6, {0x35, 0x2f, 1, 0, 0x30, 0x96}, 5},             /* skip */
        {6, {0xf1, 0x1b, 16, 0, 0, 0}, 4096 + 2 + 16},      /* encoded */
        {6, {0xf1, 0x9b, 16, 0, 0, 0}, 4096 + 2 + 17}};
    static const struct {
        uint8_t size, code[8];
    } bad[] = {{1, {0x22}},
               {2, {0x31, 0x22}},
               {3, {0x31, 0x30, 0x1b}},
               {3, {0x31, 0x30, 0x1d}},
               {2, {0x3d, 0x06}},
               {3, {0x57, 0x94, 3}},
               {3, {0x2f, 0xfd, 0xff}},
               {1, {0xe0}},
               {2, {0x90, 99}},
               {1, {0x08}}};
    uint64_t registers[JP_ARCH_REGISTERS];
    struct jp_expr_input input = {
        .pc = 5, .place = 4096, .registers = registers, .read_sig = read_next};
    struct jp_expr_value value;
    (void)state;
    for (unsigned i = 0; i < JP_ARCH_REGISTERS; i++)
        registers[i] = 1000 + i;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (jp_expr_sig(cases[i].code, cases[i].size, &input, &value) != 0 ||
            (uint64_t)value.offset != cases[i].value)
            fail_msg("operations %zu: %#lx", i, (unsigned long)value.offset);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(jp_expr_sig(bad[i].code, bad[i].size, &input, &value),
                         -EINVAL);
}

#ifdef __x86_64__
static void test_calls(void **state)
{
    static const uint8_t calls[][8] = {
        {0, 0, 0, 0xe8, 1, 2, 3, 4},        /* call there */
        {0, 0, 0, 0, 0, 0, 0xff, 0xd0},     /* *%rax */
        {0, 0, 0, 0, 0, 0x41, 0xff, 0xd4},  /* *%r12 */
        {0, 0, 0, 0, 0, 0xff, 0x50, 8},     /* *8(%rax) */
        {0, 0, 0, 0, 0xff, 0x54, 0x24, 8},  /* *8(%rsp) */
        {0, 0, 0, 0, 0, 0xff, 0x14, 0xc3},  /* *(%rbx,%rax,8) */
        {0, 0, 0xff, 0x15, 1, 2, 3, 4},     /* *there(%rip) */
        {0, 0, 0xff, 0x90, 1, 2, 3, 4},     /* *there(%rax) */
        {0, 0xff, 0x94, 0xc3, 1, 2, 3, 4},  /* *there(%rbx,%rax,8) */
        {0, 0xff, 0x14, 0xc5, 1, 2, 3, 4}}; /* *there(,%rax,8) */
    static const uint8_t others[][8] = {
        {0, 0, 0, 0, 0, 0, 0xff, 0xe3}, /* jmp *%rbx */
        {0, 0, 0, 0xe9, 1, 2, 3, 4},    /* jmp there */
        {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90},
        {0, 0, 0, 0, 0, 0, 0x0f, 0x0b},        /* ud2 */
        {0, 0, 0, 0, 0xff, 0xd0, 0x5b, 0xc3}}; /* call, pop, ret */
    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        assert_true(jp_arch_is_call_sig(calls[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(jp_arch_is_call_sig(others[i]));
}
#else
static void test_calls(void **state)
{
    static const uint8_t bl[] = {1, 0, 0, 0x94}, b[] = {1, 0, 0, 0x14};
    static const uint8_t blr[] = {0, 1, 0x3f, 0xd6}, br[] = {0, 1, 0x1f, 0xd6};
    (void)state;
    assert_true(jp_arch_is_call_sig(bl) && jp_arch_is_call_sig(blr));
    assert_false(jp_arch_is_call_sig(b) || jp_arch_is_call_sig(br));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
