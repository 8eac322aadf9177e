/* SPDX-License-Identifier: MIT
 *
 * A Java virtual machine writes the map of its code when it is asked to.
 * Runs in: launcher. */
#ifndef JL_JVM_H
#define JL_JVM_H

#include "launcher/os/proc.h"

/* Asks the JVM `pid` (its number as text), whose folder in /proc is open as
 * `dir`, by the jcmd of its JDK; says it when that fails.
 *
 * The process may be anybody's, and no JVM at all.  What is executed for it
 * belongs to root or the user and can be written by nobody else; and it runs
 * as the process's own user, with nothing of the launcher's. */
void jl_jvm_ask(const char *pid, int dir, const struct jl_status *status);

#endif
