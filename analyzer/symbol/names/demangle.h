/* SPDX-License-Identifier: MIT
 *
 * Names of C++ and Rust functions as their authors wrote them.
 * Runs in: analyzer. */
#ifndef JR_DEMANGLE_H
#define JR_DEMANGLE_H

#define JR_DEMANGLE_IN_MAX 4096   /* longer symbols stay as they are */
#define JR_DEMANGLE_OUT_MAX 16384 /* so do those with a longer name */

/* The demangled form of a C++ (_Z), Rust legacy (its hash dropped) or Rust v0
 * (_R) symbol; NULL when it is none or too large.  The caller frees it. */
char *jr_demangle(const char *symbol);

#endif
