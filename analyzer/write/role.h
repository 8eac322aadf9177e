/* SPDX-License-Identifier: MIT
 *
 * The role of a process in its program, such as "renderer".
 * Runs in: analyzer. */
#ifndef JR_ROLE_H
#define JR_ROLE_H

#include "model/model.h"

/* "renderer", "utility network.mojom.NetworkService", "tab Isolated Web Co",
 * "worker process": as the process's arguments say it, of browsers and of
 * servers that write a title over them.  NULL: they say nothing of the kind.
 * The caller frees the result. */
char *jr_role_of(const struct jr_process *process);

#endif
