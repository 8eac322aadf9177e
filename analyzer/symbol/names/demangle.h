/* SPDX-License-Identifier: MIT
 *
 * Names of functions as their authors wrote them, from symbols.
 * Runs in: analyzer. */
#ifndef JR_DEMANGLE_H
#define JR_DEMANGLE_H

#define JR_DEMANGLE_IN_MAX 4096   /* longer symbols stay as they are */
#define JR_DEMANGLE_OUT_MAX 16384 /* longer names are cut, with an ellipsis */

/* The readable form of a C++ (_Z), Rust legacy (its hash dropped), Rust v0
 * (_R), D, OCaml or Haskell symbol; NULL when it is none or too large.  The
 * caller frees it. */
char *jr_demangle(const char *symbol);

#endif
