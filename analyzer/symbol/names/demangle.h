/* SPDX-License-Identifier: MIT
 *
 * Names of functions as their authors wrote them, from symbols.
 * Runs in: analyzer. */
#ifndef JR_DEMANGLE_H
#define JR_DEMANGLE_H

#include <stddef.h>

#define JR_DEMANGLE_IN_MAX 4096  /* of longer symbols only the start is read */
#define JR_DEMANGLE_OUT_MAX 4096 /* bytes; longer names are cut, with a tail */

/* Languages whose symbols look like names that C programs have as well. */
enum jr_language { JR_OCAML = 1, JR_HASKELL = 2, JR_ADA = 4 };

/* Which of them a module is known to have code of that has, or needs, this
 * symbol: one of the run-time system's.  0: none. */
unsigned jr_demangle_languages(const char *symbol);

/* The readable form of a C++ (_Z), Rust legacy (its hash dropped), Rust v0
 * (_R), D or Free Pascal symbol, and of one of the `languages` that the module
 * has; NULL when it is none of these.  A name that is too long is cut: an
 * ellipsis and a number follow, by which such names differ as their symbols do.
 * The caller frees it. */
char *jr_demangle(const char *symbol, unsigned languages);

/* Returns where in a symbol of `length` bytes that begins which a compiler or
 * BOLT adds to the name of a function that it takes apart or copies: of
 * "f.part.0.cold" and "f.cold.0/1" 1; `length`: nothing does. */
size_t jr_symbol_part(const char *symbol, size_t length);

#endif
