/* SPDX-License-Identifier: MIT
 *
 * Finds separate debug files on this machine; never asks the network.
 * Runs in: analyzer. */
#ifndef JR_DEBUGFILE_H
#define JR_DEBUGFILE_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

/* Opens /usr/lib/debug/.build-id/xx/yyyy.debug when its build-id is this one.
 * Returns a descriptor that the caller closes, or -1. */
int jr_debugfile_by_id(const uint8_t *id, size_t size, char **path);

/* The find_debuginfo callback of libdwfl: by build-id, then by
 * .gnu_debuglink beside the file, in .debug/ and below /usr/lib/debug, its
 * checksum compared. */
int jr_debugfile_find(Dwfl_Module *module, void **userdata, const char *name,
                      Dwarf_Addr base, const char *file, const char *link,
                      GElf_Word checksum, char **found);

#endif
