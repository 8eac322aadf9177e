/* SPDX-License-Identifier: MIT
 *
 * A resolved frame: function, module and source line.
 * Runs in: analyzer. */
#ifndef JR_FRAME_H
#define JR_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum jr_frame_kind {
    JR_FRAME_NATIVE = 0,  /* a symbol of an ELF file */
    JR_FRAME_UNNAMED,     /* in a module, without a symbol: module+0xSTART */
    JR_FRAME_JIT,         /* a JIT range with a name */
    JR_FRAME_JIT_UNNAMED, /* executable memory that nothing describes */
    JR_FRAME_UNKNOWN,     /* in no mapping: "[unknown]" */
    JR_FRAME_SCRIPT       /* a function that an interpreter runs */
};

/* One function at one place.  Strings belong to the jr_symbols. */
struct jr_frame {
    const char *name;      /* demangled; never NULL or empty */
    const char *raw;       /* as the file has it: of native code mangled; NULL:
                              as `name` */
    const char *tier;      /* of JIT code "TurboFan", of native code a part that
                              the compiler made of the function, "cold"; NULL:
                              not said, or the function itself */
    const char *module;    /* base name of the file, of a script its source;
                              "[jit]", "[vdso]", "" */
    const char *file;      /* source file or NULL */
    uint32_t line, column; /* 0: not known */
    uint32_t first_line;   /* where the function is declared; 0: not known */
    uint32_t number;       /* of the frames of a jr_symbols, from 1 on; 0: it is
                            none of them */
    uint8_t kind;          /* enum jr_frame_kind */
    uint8_t late;          /* JIT code that was described only after the time
                            asked for */
    uint8_t is_kind;       /* `tier` is a kind of code, as "builtin": it tells
                            functions of one name apart */
    uint8_t inlined;       /* native code that is part of its caller's */
};

/* The functions at one place, innermost first: each but the last is inlined
 * into the next. */
struct jr_frames {
    const struct jr_frame *items;
    size_t count;
};

#endif
