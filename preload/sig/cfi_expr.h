/* SPDX-License-Identifier: MIT
 *
 * DWARF expressions of call-frame information (DWARF 5, 2.5), worked out
 * without the registers: what comes out says which register to take and what
 * to add.  That covers what compilers and hand-written assembly use, and it
 * can be kept with the rule.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_EXPR_H
#define JP_CFI_EXPR_H

#include <stdint.h>

enum jp_expr_kind {
    JP_EXPR_CONSTANT,
    JP_EXPR_REGISTER,   /* register + offset */
    JP_EXPR_MEMORY      /* 8 bytes at (register + offset), + add */
};

/* The register number of the CFA itself. */
#define JP_EXPR_CFA 254U

struct jp_expr_value {
    int64_t offset;     /* of a CONSTANT: itself */
    int64_t add;
    uint8_t kind;
    uint8_t base;
};

/* Evaluates the expression in [at, at + size) at a pc; with_cfa: the CFA is
 * on the stack at its start, as for rules of registers.  Returns 0 or
 * -EINVAL: damaged, too long, or not of the forms above. */
int jp_expr_sig(const uint8_t *at, uint64_t size, uint64_t pc, int with_cfa,
                struct jp_expr_value *result);

#endif
