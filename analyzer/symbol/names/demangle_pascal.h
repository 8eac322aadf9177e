/* SPDX-License-Identifier: MIT
 *
 * Free Pascal's names.
 * Runs in: analyzer. */
#ifndef JR_DEMANGLE_PASCAL_H
#define JR_DEMANGLE_PASCAL_H

/* Returns "P.TWORKER.SPIN(LONGINT)" for P$P$_$TWORKER_$__$$_SPIN$LONGINT$$QWORD,
 * which the caller frees, or NULL: the symbol is none of Free Pascal's. */
char *jr_demangle_pascal(const char *symbol);

#endif
