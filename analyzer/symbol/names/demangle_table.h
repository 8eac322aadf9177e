/* SPDX-License-Identifier: MIT
 *
 * Names of OCaml and Haskell functions, whose compilers only replace
 * characters that a symbol cannot have.
 * Runs in: analyzer. */
#ifndef JR_DEMANGLE_TABLE_H
#define JR_DEMANGLE_TABLE_H

/* The readable form of an OCaml symbol (camlModule__function_12), "Module.
 * function_12"; NULL when it is none.  The caller frees it. */
char *jr_demangle_ocaml(const char *symbol);

/* The readable form of a symbol of GHC's for code (package_Module_name_info),
 * "package:Module.name"; NULL when it is none.  The caller frees it. */
char *jr_demangle_haskell(const char *symbol);

#endif
