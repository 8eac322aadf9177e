/* SPDX-License-Identifier: MIT
 *
 * DWARF expressions of call-frame information (DWARF 5, 2.5).  An expression is
 * first evaluated without the values of registers: the result then says which
 * register to take and what to add.  That covers what compilers and most
 * hand-written assembly use, and can be kept in a rule.  Other expressions are
 * evaluated at each frame, with its registers.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_EXPR_H
#define JP_CFI_EXPR_H

#include <stdint.h>

enum jp_expr_kind {
    JP_EXPR_CONSTANT,
    JP_EXPR_REGISTER, /* register + offset */
    JP_EXPR_MEMORY    /* 8 bytes at (register + offset), + add */
};

/* Stands for the CFA where a register's number is expected. */
#define JP_EXPR_CFA 254U

struct jp_expr_value {
    int64_t offset; /* of a CONSTANT: its value */
    int32_t add;    /* 32 bits, as the handler's stack holds many values */
    uint8_t kind;
    uint8_t base;
};

/* What an expression is evaluated with. */
struct jp_expr_input {
    uint64_t pc;
    uint64_t place;            /* address of the expression's first byte */
    uint32_t with_cfa;         /* it begins with the CFA on its stack, as for
                                  rules of registers */
    uint64_t cfa;              /* the CFA, if registers are given */
    const uint64_t *registers; /* by DWARF number; NULL: without values */
    /* Reads 8 bytes of memory; returns 0 when it cannot. */
    int (*read_sig)(void *data, uint64_t address, uint64_t *word);
    void *data;
};

/* Evaluates the expression in [at, at + size), with all operations that libgcc
 * knows; DW_OP_regN is the register's value, as in libgcc.  Returns 0, or
 * -EINVAL when it is damaged or too long, has another form than enum
 * jp_expr_kind, or, with registers, when memory cannot be read. */
int jp_expr_sig(const uint8_t *at, uint64_t size,
                const struct jp_expr_input *input,
                struct jp_expr_value *result);

#endif
