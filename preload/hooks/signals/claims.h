/* SPDX-License-Identifier: MIT
 *
 * Signals of jprof's that turn out to be the program's without a hook having
 * been called.
 * Runs in: constructor, handler. */
#ifndef JP_CLAIMS_H
#define JP_CLAIMS_H

/* Finds out which signals the program has inherited a use for, installs the
 * handler for jprof's others (jp_signals_install), and has that handler tell of
 * signals that the program claims later.  Called once, by the constructor.
 * Returns 0 or the kernel's errno. */
int jp_claims_install(void);

#endif
