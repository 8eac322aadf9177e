/* SPDX-License-Identifier: MIT
 *
 * Symbolization: (address, time) in a process -> frames with names.
 * Runs in: analyzer. */
#ifndef JR_SYMBOL_H
#define JR_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "../base/diag.h"
#include "../read/map.h"

enum jr_frame_kind {
    JR_FRAME_NATIVE = 0,  /* a symbol of an ELF file */
    JR_FRAME_UNNAMED,     /* in a module, without a symbol: module+0xSTART */
    JR_FRAME_JIT,         /* a JIT range with a name */
    JR_FRAME_JIT_UNNAMED, /* executable memory that nothing describes */
    JR_FRAME_UNKNOWN      /* in no mapping: "[unknown]" */
};

/* One function at one place.  Strings belong to the jr_symbols. */
struct jr_frame {
    const char *name;    /* demangled; never NULL or empty */
    const char *raw;     /* as the file has it; NULL: as `name` */
    const char *tier;    /* of JIT code, static: "TurboFan"; NULL: not said */
    const char *module;  /* base name of the file, "[jit]", "[vdso]", "" */
    const char *file;    /* source file or NULL */
    uint32_t line;       /* 0: not known */
    uint32_t number;     /* of the frames of a jr_symbols, from 1 on; 0: it is
                            none of them */
    uint8_t kind;        /* enum jr_frame_kind */
    uint8_t late;        /* JIT code that was described only after the time
                            asked for */
    uint8_t is_kind;     /* `tier` is a kind of code, as "builtin": it tells
                            functions of one name apart */
};

/* What an address is, and for which times this answer holds. */
struct jr_hit {
    const struct jr_frame *frames; /* innermost inlined function first */
    size_t nframes;                /* at least 1 */
    uint64_t from_ns, until_ns;    /* [from_ns, until_ns) contains the time */
};

/* All files read so far; shared by the processes of a report. */
struct jr_symbols;
struct jr_symbols *jr_symbols_new(struct jr_diag *diag);
void jr_symbols_free(struct jr_symbols *symbols);

/* Binaries whose build-id, or size and time, no longer match the map. */
size_t jr_symbols_changed(const struct jr_symbols *symbols);

/* The code of one process over time.  `map` must outlive it; `log_dir` is the
 * folder of the log, where saved JIT files are ("" for the current one).
 * Never NULL.  Files are opened when an address in them is first looked up. */
struct jr_space;
struct jr_space *jr_space_new(struct jr_symbols *symbols,
                              const struct jr_map *map, const char *log_dir);
void jr_space_free(struct jr_space *space);

/* What was read for the JIT code of a space, once the last address has been
 * looked up. */
struct jr_space_jit {
    size_t files;       /* perf maps and jitdumps that could be read */
    size_t bad_lines;   /* line tables of functions looked up whose names, or
                           all of which, were garbage */
    size_t mismatched;  /* addresses looked up where other code was than a
                           jitdump says, each once: unnamed */
};
struct jr_space_jit jr_space_jit(struct jr_space *space);

/* Resolves `address` at `time_ns`; a return address is looked up minus one.
 * Always fills *hit; its frames stay valid until jr_symbols_free.  Equal
 * frames have equal pointers `name` and `module` (strings are unique). */
void jr_space_find(struct jr_space *space, uint64_t address, uint64_t time_ns,
                   int is_return, struct jr_hit *hit);

#endif
