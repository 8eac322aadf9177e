/* SPDX-License-Identifier: MIT
 *
 * Embeds the style sheet and the script of the HTML report.  The assembler
 * reads them when this file is compiled (in the top folder, as make does);
 * analyzer.mk tells make.
 * Runs in: analyzer. */
#include "html.h"

#define EMBED(symbol, file)                                                    \
    __asm__(".pushsection .rodata\n"                                           \
            ".global " #symbol "\n"                                            \
            ".type " #symbol ", %object\n" #symbol ":\n"                       \
            ".incbin \"" file "\"\n"                                           \
            ".byte 0\n"                                                        \
            ".size " #symbol ", . - " #symbol "\n"                             \
            ".popsection\n")

EMBED(jr_report_css, "analyzer/write/html/report.css");
EMBED(jr_report_js, "analyzer/write/html/report.js");
