/* SPDX-License-Identifier: MIT
 *
 * A function in assembly, as all architectures have it.
 * Runs in: handler, any thread. */
#ifndef JP_FUNCTION_H
#define JP_FUNCTION_H

/* The assembly of the global function `name`, aligned to `align` bytes, in a
 * section of code.  `code` leaves the stack pointer where it is, and ends with
 * a newline. */
#define JP_ARCH_FUNCTION(section, align, name, code)                           \
    ".pushsection " section ",\"ax\",@progbits\n"                              \
    ".globl " name "\n"                                                        \
    ".type " name ",@function\n"                                               \
    ".balign " align "\n" name ":\n"                                           \
    ".cfi_startproc\n" code ".cfi_endproc\n"                                   \
    ".size " name ",.-" name "\n"                                              \
    ".popsection\n"

#endif
