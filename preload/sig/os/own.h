/* SPDX-License-Identifier: MIT
 *
 * The calling thread's own files in /proc, and its process's memory where it
 * may not be mapped.
 * Runs in: handler, any thread, vfork children. */
#ifndef JP_OWN_H
#define JP_OWN_H

#include <stddef.h>
#include <stdint.h>

/* Opens a file of the calling thread's in /proc, for reading: its process's
 * list of mappings, its memory, its own times (proc(5)).  (Those of /proc/self
 * are the first thread's, and empty when that has ended.)  A tracer that
 * rewrites paths, as proot, knows /proc/self alone: what it opens for the
 * thread's is its own, so the process's is opened then.  Returns the
 * descriptor, which jp_sys_close_sig closes, or -errno. */
enum jp_self_file { JP_SELF_MAPS, JP_SELF_MEM, JP_SELF_SCHEDSTAT };
int jp_self_open_sig(enum jp_self_file what);

/* Reads this process's memory; where nothing is mapped it fails instead of
 * faulting.  Returns the bytes read, which within a page are all or none, or
 * -errno.  Uses process_vm_readv or, where a container refuses that, the
 * thread's mem file in /proc. */
long jp_self_read_sig(uint64_t address, void *buffer, size_t size);

#endif
