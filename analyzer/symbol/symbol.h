/* SPDX-License-Identifier: MIT
 *
 * Symbolization: (address, time) in a process -> frames with names.
 * Runs in: analyzer. */
#ifndef JR_SYMBOL_H
#define JR_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "read/map.h"
#include "symbol/elf/symbols.h"
#include "symbol/names/frame.h"

/* What an address is, and for which times this answer holds. */
struct jr_hit {
    const struct jr_frame *frames; /* innermost inlined function first */
    size_t nframes;                /* at least 1 */
    uint64_t from_ns, until_ns;    /* [from_ns, until_ns) contains the time */
    const struct jr_mapping *mapping; /* of the file that the frames are of;
                                         NULL: of none, or JIT code */
    uint64_t address;  /* of the code; of a return address one less */
    uint8_t is_final;  /* the frames are as another tool named them */
    uint8_t is_runner; /* code of an interpreter that runs the frames of scripts
                          right before it */
};

/* The code of one process over time.  `map` must outlive it; `log_dir` is the
 * folder of the log, where saved JIT files are ("" for the current one).
 * Never NULL.  Files are opened when an address in them is first looked up. */
struct jr_space;
struct jr_space *jr_space_new(struct jr_symbols *symbols,
                              const struct jr_map *map, const char *log_dir);
void jr_space_free(struct jr_space *space);

/* A place of a profile in which functions have their names already. */
struct jr_given {
    struct jr_frames frames; /* of jr_space_frame */
    uint64_t address;
};

/* A space whose addresses are numbers of given places, the first being 1.  It
 * takes over the array, and the arrays of frames. */
struct jr_space *jr_space_given(struct jr_symbols *symbols,
                                const struct jr_map *map,
                                struct jr_given *places, size_t count);

/* Text as frames have it, of which equal ones are one. */
const char *jr_space_text(struct jr_symbols *symbols, const char *text,
                          size_t size);

/* Whose code is at a hit. */
enum jr_whose { JR_WHOSE_OTHERS, JR_WHOSE_LIBC, JR_WHOSE_OWN };

/* own.c: makes what users see of a hit in libjprof.so's own code.  A hook gets
 * the frame *hook, of the C library's function that it stands before, and so
 * does code without a name; anything else of it has no frame.  A final hit is
 * left as it is. */
enum jr_whose jr_space_own(struct jr_space *space, struct jr_hit *hit,
                           struct jr_frame *hook);

/* Text as the frames of the space have it. */
const char *jr_space_name(struct jr_space *space, const char *text);

/* What was read for the JIT code of a space, once the last address has been
 * looked up. */
struct jr_space_jit {
    size_t files;      /* perf maps and jitdumps that could be read */
    size_t bad_lines;  /* line tables of functions looked up whose names, or
                           all of which, were garbage */
    size_t unread;     /* those that could not: gone, or written over */
    size_t mismatched; /* addresses looked up where other code was than a
                           jitdump says, each once: unnamed */
    size_t wiped;      /* those whose code was freed and wiped by then */
};
struct jr_space_jit jr_space_jit(struct jr_space *space);

/* Resolves `address` at `time_ns`; a return address is looked up minus one.
 * Always fills *hit; its frames stay valid until jr_symbols_free.  Equal
 * frames have equal pointers `name` and `module` (strings are unique). */
void jr_space_find(struct jr_space *space, uint64_t address, uint64_t time_ns,
                   int is_return, struct jr_hit *hit);

struct jr_jit_code;
struct jr_module;

/* The JIT code that holds `address` at `time_ns`, as jr_space_find picks it
 * for an address that it calls JR_FRAME_JIT.  Returns 0, or -1 when no file
 * describes it. */
int jr_jit_code_find(struct jr_space *space, uint64_t address, uint64_t time_ns,
                     struct jr_jit_code *code);

/* Reads the first `room` bytes of the code at most: from the jitdump, or
 * where there is none from a copy of executable memory that the map names.
 * Returns how many bytes were read, counted from code->start; 0: they were
 * kept nowhere. */
size_t jr_jit_code_bytes(const struct jr_jit_code *code, uint8_t *into,
                         size_t room);

/* The file of a mapping of the space, and the symbols that it is
 * of. */
struct jr_module *jr_space_module(struct jr_space *space,
                                  const struct jr_mapping *mapping,
                                  struct jr_symbols **symbols);

#endif
