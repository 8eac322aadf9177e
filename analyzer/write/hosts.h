/* SPDX-License-Identifier: MIT
 *
 * The machines that the processes of a report ran on.
 * Runs in: analyzer. */
#ifndef JR_HOSTS_H
#define JR_HOSTS_H

#include "model/model.h"

/* Machines by their boots, in the order of the processes. */
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

#endif
