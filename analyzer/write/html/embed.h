/* SPDX-License-Identifier: MIT
 *
 * Files of the pages become strings of the program.
 * Runs in: analyzer. */
#ifndef JR_EMBED_H
#define JR_EMBED_H

/* Defines `symbol`, a string with the bytes of `file` and a NUL.  The assembler
 * reads the file when the source file that uses this is compiled. */
#define JR_EMBED(symbol, file)                                                 \
    __asm__(".pushsection .rodata\n"                                           \
            ".global " #symbol "\n"                                            \
            ".type " #symbol ", %object\n" #symbol ":\n"                       \
            ".incbin \"" file "\"\n"                                           \
            ".byte 0\n"                                                        \
            ".size " #symbol ", . - " #symbol "\n"                             \
            ".popsection\n")

#endif
