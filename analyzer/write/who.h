/* SPDX-License-Identifier: MIT
 *
 * What tells a report's processes apart besides their programs: the role of
 * each, such as "renderer", and the machine that it ran on.
 * Runs in: analyzer. */
#ifndef JR_WHO_H
#define JR_WHO_H

#include "model/model.h"

/* Machines, told apart by the boot that their maps name, in the order of the
 * processes. */
struct jr_hosts {
    char **names; /* as their maps say, or "machine BOOT"; a machine that was
                     started again, or another one of the name, has its boot
                     behind it */
    size_t count;
    uint32_t *of; /* by process */
};

/* The caller frees them with jr_hosts_free. */
void jr_hosts_find(const struct jr_model *model, struct jr_hosts *hosts);
void jr_hosts_free(struct jr_hosts *hosts);

/* The machine of a process, NULL: all are of one. */
const char *jr_hosts_name(const struct jr_hosts *hosts, size_t process);

/* "renderer", "utility network.mojom.NetworkService", "tab Isolated Web Co",
 * "worker process": as the process's arguments say it, of browsers and of
 * servers that write a title over them.  NULL: they say nothing of the kind.
 * The caller frees the result. */
char *jr_role_of(const struct jr_process *process);

#endif
