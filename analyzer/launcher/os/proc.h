/* SPDX-License-Identifier: MIT
 *
 * What /proc says of another process.
 * Runs in: launcher. */
#ifndef JL_PROC_H
#define JL_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Fields of /proc/PID/status. */
struct jl_status {
    uint64_t caught; /* signals with a handler, bit 0 for signal 1 */
    uid_t uids[4];   /* real, effective, saved, of the file system */
    gid_t gids[4];
    uint8_t has_caught, has_uids, has_gids;
};

/* Reads text[0..size). */
void jl_status_read(struct jl_status *status, const char *text, size_t size);

/* Whether maps[0..size), of /proc/PID/maps, has a file /.../NAME mapped, or
 * one whose name starts so. */
int jl_maps_have(const char *maps, size_t size, const char *name);

/* The file `name` in the folder of a process that is open as `dir`, with a NUL
 * behind it, allocated; NULL: it cannot be read, for the reason in errno. */
char *jl_proc_read(int dir, const char *name, size_t *size);

/* Fields of /proc/PID/stat (proc_pid_stat(5)). */
#define JL_STAT_THREADS 20 /* how many have not ended, the first counted */
#define JL_STAT_BEGAN 22   /* when it began, in ticks */

/* The number that a field behind the name has; 0: not known. */
uint64_t jl_proc_stat(int dir, int field);

#endif
