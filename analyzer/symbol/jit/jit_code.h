/* SPDX-License-Identifier: MIT
 *
 * One piece of JIT code for those who show it: its name, time, source lines
 * and bytes (symbol/find_code.h).  Lines and bytes are read from the files when
 * they are asked for.
 * Runs in: analyzer. */
#ifndef JR_JIT_CODE_H
#define JR_JIT_CODE_H

#include <stddef.h>
#include <stdint.h>

struct jr_jit;
struct jr_jit_text;

/* Which kind of file describes a piece of code. */
enum jr_jit_source { JR_JIT_PERFMAP, JR_JIT_DUMP };

/* From `address` on, until the next one's, code is of this line. */
struct jr_jit_source_line {
    uint64_t address;
    uint32_t line;          /* from 1 on; 0: not known */
    uint32_t discriminator; /* SpiderMonkey: the column */
    const char *file;       /* never NULL; lives as long as the jr_symbols */
};

struct jr_jit_code {
    uint64_t start, end;          /* addresses, start < end */
    uint64_t loaded_ns, until_ns; /* live in [loaded_ns, until_ns) */
    const char *name;             /* as the runtime wrote it, NULs made '?';
                                      lives as long as the jr_symbols */
    uint32_t length;              /* of name */
    uint16_t machine;             /* ELF e_machine of the dump; 0: unknown */
    uint8_t source;               /* enum jr_jit_source */
    uint8_t late;                 /* described after the time asked for */
    const struct jr_jit_source_line *lines; /* by rising address; live as
                                               long as the space; or NULL */
    size_t nlines;
    const struct jr_jit *jit; /* for jr_jit_code_bytes */
    const struct jr_jit_text *text;
};

#endif
