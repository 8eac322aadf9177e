/* SPDX-License-Identifier: MIT
 *
 * DWARF expressions of call-frame information (DWARF 5, 2.5).  They are worked
 * out without the registers: what comes out says which register to take and
 * what to add.  That covers what compilers and most hand-written assembly use,
 * and it can be kept with the rule.  The rest is worked out with them, at the
 * frame itself.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_EXPR_H
#define JP_CFI_EXPR_H

#include <stdint.h>

enum jp_expr_kind {
    JP_EXPR_CONSTANT,
    JP_EXPR_REGISTER, /* register + offset */
    JP_EXPR_MEMORY    /* 8 bytes at (register + offset), + add */
};

/* The register number of the CFA itself. */
#define JP_EXPR_CFA 254U

struct jp_expr_value {
    int64_t offset; /* of a CONSTANT: itself */
    int32_t add;    /* small: an expression's stack is on the handler's */
    uint8_t kind;
    uint8_t base;
};

/* What an expression is evaluated for.  Without registers: by name. */
struct jp_expr_input {
    uint64_t pc;
    uint64_t place;            /* in memory, of its first byte */
    uint32_t with_cfa;         /* the CFA is on the stack at its start, as for
                                  rules of registers: */
    uint64_t cfa;              /* this, with registers */
    const uint64_t *registers; /* by number; NULL: without */
    /* Reads 8 bytes of memory; returns 0 when they are not to be had. */
    int (*read_sig)(void *data, uint64_t address, uint64_t *word);
    void *data;
};

/* Evaluates the expression in [at, at + size).  Every operation is known that
 * libgcc knows; DW_OP_regN is the register's value, as there.  Returns 0 or
 * -EINVAL: damaged, too long, or not of the forms above (with registers:
 * memory could not be read). */
int jp_expr_sig(const uint8_t *at, uint64_t size,
                const struct jp_expr_input *input,
                struct jp_expr_value *result);

#endif
