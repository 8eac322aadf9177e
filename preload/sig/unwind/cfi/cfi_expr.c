/* SPDX-License-Identifier: MIT
 *
 * Evaluating DWARF expressions over values that may be a register's name.
 * Runs in: handler, any thread. */
#include "cfi_expr.h"

#include <errno.h>

#include "cursor.h"
#include "sig/arch/arch.h"

#define STACK_MAX 16
#define STEPS_MAX 256

/* DW_OP_* (DWARF 5, 7.7.1). */
enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_REG0 = 0x50,
    OP_BREG0 = 0x70,
    OP_REGX = 0x90,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
    OP_GNU_ENCODED_ADDR = 0xf1
};

struct machine {
    struct jp_cursor cursor;
    const uint8_t *start;
    const struct jp_expr_input *input;
    unsigned depth;
    struct jp_expr_value stack[STACK_MAX];
};

static void push_sig(struct machine *m, struct jp_expr_value value)
{
    if (m->depth == STACK_MAX) {
        m->cursor.bad = 1;
        return;
    }
    m->stack[m->depth++] = value;
}

static void push_constant_sig(struct machine *m, int64_t value)
{
    push_sig(m,
             (struct jp_expr_value){.offset = value, .kind = JP_EXPR_CONSTANT});
}

static struct jp_expr_value pop_sig(struct machine *m)
{
    if (m->depth == 0) {
        m->cursor.bad = 1;
        return (struct jp_expr_value){0};
    }
    return m->stack[--m->depth];
}

static void push_register_sig(struct machine *m, uint64_t number,
                              int64_t offset)
{
    const struct jp_expr_input *in = m->input;
    if (number >= JP_ARCH_REGISTERS)
        m->cursor.bad = 1;
    else if (number == JP_ARCH_PC)
        push_constant_sig(m, (int64_t)(in->pc + (uint64_t)offset));
    else if (in->registers != NULL)
        push_constant_sig(m,
                          (int64_t)(in->registers[number] + (uint64_t)offset));
    else
        push_sig(m, (struct jp_expr_value){.offset = offset,
                                           .kind = JP_EXPR_REGISTER,
                                           .base = (uint8_t)number});
}

static void add_sig(struct machine *m, struct jp_expr_value a,
                    struct jp_expr_value b, int negative)
{
    if (a.kind == JP_EXPR_CONSTANT && !negative) {
        struct jp_expr_value swapped = a;
        a = b;
        b = swapped;
    }
    /* A sum or difference of two registers has none of the forms of a rule. */
    if (b.kind != JP_EXPR_CONSTANT) {
        m->cursor.bad = 1;
        return;
    }
    uint64_t by = negative ? -(uint64_t)b.offset : (uint64_t)b.offset;
    if (a.kind == JP_EXPR_MEMORY) {
        by += (uint64_t)(int64_t)a.add;
        a.add = (int32_t)by;
        m->cursor.bad |= (uint64_t)(int64_t)a.add != by;
    } else {
        a.offset = (int64_t)((uint64_t)a.offset + by);
    }
    push_sig(m, a);
}

static int64_t calculate_sig(struct machine *m, uint8_t op, int64_t a,
                             int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case OP_AND:
        return (int64_t)(x & y);
    case OP_OR:
        return (int64_t)(x | y);
    case OP_XOR:
        return (int64_t)(x ^ y);
    case OP_MUL:
        return (int64_t)(x * y);
    case OP_DIV:
        m->cursor.bad |= y == 0;
        return y == 0 || y == UINT64_MAX ? (int64_t)-x : a / b;
    case OP_MOD:
        m->cursor.bad |= y == 0;
        return y == 0 ? 0 : (int64_t)(x % y);
    case OP_SHL:
        return y < 64 ? (int64_t)(x << y) : 0;
    case OP_SHR:
        return y < 64 ? (int64_t)(x >> y) : 0;
    case OP_SHRA:
        return y < 63 ? a >> y : -(a < 0);
    case OP_EQ:
        return a == b;
    case OP_EQ + 1:
        return a >= b;
    case OP_EQ + 2:
        return a > b;
    case OP_EQ + 3:
        return a <= b;
    case OP_EQ + 4:
        return a < b;
    case OP_NE:
        return a != b;
    default:
        m->cursor.bad = 1;
        return 0;
    }
}

static void binary_sig(struct machine *m, uint8_t op)
{
    struct jp_expr_value b = pop_sig(m), a = pop_sig(m);
    if (op == OP_PLUS || op == OP_MINUS) {
        add_sig(m, a, b, op == OP_MINUS);
        return;
    }
    if (a.kind != JP_EXPR_CONSTANT || b.kind != JP_EXPR_CONSTANT)
        m->cursor.bad = 1;
    push_constant_sig(m, calculate_sig(m, op, a.offset, b.offset));
}

/* Replaces an address by what is there; without values of registers, an address
 * of register + offset by a value of kind MEMORY. */
static void deref_sig(struct machine *m, uint64_t size)
{
    const struct jp_expr_input *in = m->input;
    struct jp_expr_value a = pop_sig(m);
    uint64_t word = 0;
    if (size != 1 && size != 2 && size != 4 && size != 8) {
        m->cursor.bad = 1;
    } else if (in->registers != NULL) {
        if (m->cursor.bad || !in->read_sig(in->data, (uint64_t)a.offset, &word))
            m->cursor.bad = 1;
        push_constant_sig(m, (int64_t)(word & UINT64_MAX >> (64 - size * 8)));
    } else {
        if (a.kind != JP_EXPR_REGISTER || size != 8)
            m->cursor.bad = 1;
        a.kind = JP_EXPR_MEMORY;
        a.add = 0;
        push_sig(m, a);
    }
}

static void unary_sig(struct machine *m, uint8_t op)
{
    const struct jp_expr_value a = pop_sig(m);
    const int64_t negative = (int64_t) - (uint64_t)a.offset;
    if (a.kind != JP_EXPR_CONSTANT)
        m->cursor.bad = 1;
    if (op == OP_NOT)
        push_constant_sig(m, ~a.offset);
    else
        push_constant_sig(m,
                          op == OP_NEG || a.offset < 0 ? negative : a.offset);
}

/* DW_OP_GNU_encoded_addr: an encoding, then the pointer. */
static void encoded_sig(struct machine *m)
{
    struct jp_cursor *c = &m->cursor;
    const uint8_t encoding = (uint8_t)jp_cursor_fixed_sig(c, 1);
    const uint64_t place = m->input->place + (uint64_t)(c->at - m->start);
    push_constant_sig(
        m, (int64_t)jp_cursor_encoded_sig(c, encoding & 0x7f, place, 0));
    if ((encoding & 0x80) != 0)
        deref_sig(m, 8);
}

static void pick_sig(struct machine *m, uint64_t index)
{
    if (index >= m->depth)
        m->cursor.bad = 1;
    else
        push_sig(m, m->stack[m->depth - 1 - index]);
}

static void jump_sig(struct machine *m, uint8_t op)
{
    int64_t by = jp_cursor_signed_sig(&m->cursor, 2);
    if (op == OP_BRA) {
        struct jp_expr_value a = pop_sig(m);
        if (a.kind != JP_EXPR_CONSTANT)
            m->cursor.bad = 1;
        if (a.offset == 0)
            return;
    }
    int64_t to = m->cursor.at - m->start + by;
    if (to < 0 || to > m->cursor.end - m->start)
        m->cursor.bad = 1;
    else
        m->cursor.at = m->start + to;
}

static void constant_sig(struct machine *m, uint8_t op)
{
    struct jp_cursor *c = &m->cursor;
    const unsigned size = 1U << ((op - OP_CONST1U) / 2);
    if (op == OP_CONSTU)
        push_constant_sig(m, (int64_t)jp_cursor_uleb_sig(c));
    else if (op == OP_CONSTS)
        push_constant_sig(m, jp_cursor_sleb_sig(c));
    else if ((op & 1) != 0)
        push_constant_sig(m, jp_cursor_signed_sig(c, size));
    else
        push_constant_sig(m, (int64_t)jp_cursor_fixed_sig(c, size));
}

static void stack_sig(struct machine *m, uint8_t op)
{
    struct jp_expr_value a, b, c;
    switch (op) {
    case OP_DUP:
        pick_sig(m, 0);
        break;
    case OP_DROP:
        pop_sig(m);
        break;
    case OP_OVER:
        pick_sig(m, 1);
        break;
    case OP_PICK:
        pick_sig(m, jp_cursor_fixed_sig(&m->cursor, 1));
        break;
    case OP_SWAP:
        b = pop_sig(m);
        a = pop_sig(m);
        push_sig(m, b);
        push_sig(m, a);
        break;
    default: /* OP_ROT */
        c = pop_sig(m);
        b = pop_sig(m);
        a = pop_sig(m);
        push_sig(m, c);
        push_sig(m, a);
        push_sig(m, b);
    }
}

/* The operations that push the value of a register.  Returns whether `op` is
 * one. */
static int register_sig(struct machine *m, uint8_t op)
{
    struct jp_cursor *c = &m->cursor;
    uint64_t number;
    if (op >= OP_REG0 && op < OP_REG0 + 32) {
        push_register_sig(m, op - OP_REG0, 0);
    } else if (op >= OP_BREG0 && op < OP_BREG0 + 32) {
        push_register_sig(m, op - OP_BREG0, jp_cursor_sleb_sig(c));
    } else if (op == OP_REGX) {
        push_register_sig(m, jp_cursor_uleb_sig(c), 0);
    } else if (op == OP_BREGX) {
        number = jp_cursor_uleb_sig(c);
        push_register_sig(m, number, jp_cursor_sleb_sig(c));
    } else {
        return 0;
    }
    return 1;
}

static void step_sig(struct machine *m)
{
    struct jp_cursor *c = &m->cursor;
    const uint8_t op = (uint8_t)jp_cursor_fixed_sig(c, 1);
    if (register_sig(m, op))
        return;
    if (op >= OP_LIT0 && op < OP_LIT0 + 32)
        push_constant_sig(m, op - OP_LIT0);
    else if (op == OP_ADDR)
        push_constant_sig(m, (int64_t)jp_cursor_fixed_sig(c, 8));
    else if (op == OP_GNU_ENCODED_ADDR)
        encoded_sig(m);
    else if (op >= OP_CONST1U && op <= OP_CONSTS)
        constant_sig(m, op);
    else if (op >= OP_DUP && op <= OP_ROT)
        stack_sig(m, op);
    else if (op == OP_PLUS_UCONST)
        add_sig(
            m, pop_sig(m),
            (struct jp_expr_value){.offset = (int64_t)jp_cursor_uleb_sig(c)},
            0);
    else if (op == OP_DEREF)
        deref_sig(m, 8);
    else if (op == OP_DEREF_SIZE)
        deref_sig(m, jp_cursor_fixed_sig(c, 1));
    else if (op == OP_NEG || op == OP_NOT || op == OP_ABS)
        unary_sig(m, op);
    else if (op == OP_BRA || op == OP_SKIP)
        jump_sig(m, op);
    else if (op >= OP_AND && op <= OP_NE)
        binary_sig(m, op);
    else if (op != OP_NOP)
        m->cursor.bad = 1;
}

int jp_expr_sig(const uint8_t *at, uint64_t size,
                const struct jp_expr_input *input, struct jp_expr_value *result)
{
    struct machine m = {
        .cursor = {at, at + size, 0}, .start = at, .input = input};
    if (input->with_cfa && input->registers != NULL)
        push_constant_sig(&m, (int64_t)input->cfa);
    else if (input->with_cfa)
        push_sig(&m, (struct jp_expr_value){.kind = JP_EXPR_REGISTER,
                                            .base = JP_EXPR_CFA});
    for (int i = 0; m.cursor.at < m.cursor.end && !m.cursor.bad; i++) {
        if (i == STEPS_MAX)
            return -EINVAL;
        step_sig(&m);
    }
    *result = pop_sig(&m);
    return m.cursor.bad ? -EINVAL : 0;
}
