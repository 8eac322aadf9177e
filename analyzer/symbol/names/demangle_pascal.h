/* SPDX-License-Identifier: MIT
 *
 * Free Pascal's names.
 * Runs in: analyzer. */
#ifndef JR_DEMANGLE_PASCAL_H
#define JR_DEMANGLE_PASCAL_H

/* Returns the readable form of a symbol, of P$P$_$TWORKER_$__$$_SPIN$LONGINT
 * "P.TWORKER.SPIN(LONGINT)", which the caller frees, or NULL: the symbol is
 * none of Free Pascal's. */
char *jr_demangle_pascal(const char *symbol);

#endif
