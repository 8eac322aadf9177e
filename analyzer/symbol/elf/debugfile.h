/* SPDX-License-Identifier: MIT
 *
 * Finds separate debug files on this machine, and asks the network only where
 * the user wants that (struct jr_debug_folders).
 * Runs in: analyzer. */
#ifndef JR_DEBUGFILE_H
#define JR_DEBUGFILE_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

#include "options.h"

/* Opens the debug file with this build-id: DIR/.build-id/xx/yyyy.debug and
 * DIR/usr/lib/debug/.build-id/... of each given folder, below /usr/lib/debug,
 * and in the cache of debuginfod's client.  Returns a descriptor, which the
 * caller closes, and the path, which he frees; or -1 and NULL.  `file` is the
 * file that it is of. */
int jr_debugfile_by_id(const struct jr_debug_folders *folders, const char *file,
                       const uint8_t *id, size_t size, char **path);

/* The same of the file that dwz made of what several have in common. */
int jr_debugfile_common(const struct jr_debug_folders *folders,
                        const uint8_t *id, size_t size);

/* Opens the binary that was at `file` and has this build-id: below each given
 * folder, and in the cache of debuginfod's client.  Returns likewise. */
int jr_debugfile_binary(const struct jr_debug_folders *folders,
                        const char *file, const uint8_t *id, size_t size,
                        char **path);

/* The path of a source, by the name that the DWARF of the file with this
 * build-id has for it, in the cache of debuginfod's client, which is asked for
 * it only where the folders say so.  The caller frees it; NULL: it is not
 * there. */
char *jr_debugfile_source(const struct jr_debug_folders *folders,
                          const uint8_t *id, size_t size, const char *file);

/* The find_debuginfo callback of libdwfl; *userdata is a struct
 * jr_debug_folders.  By build-id, then by .gnu_debuglink beside the file, in
 * .debug/, below each given folder and below /usr/lib/debug: its checksum is
 * compared, and its build-id where both have one. */
int jr_debugfile_find(Dwfl_Module *module, void **userdata, const char *name,
                      Dwarf_Addr base, const char *file, const char *link,
                      GElf_Word checksum, char **found);

/* Whether the file behind `fd` has this build-id. */
int jr_debugfile_has_id(int fd, const uint8_t *id, size_t size);

/* Whether libdwfl, or only libdw where `is_common`, may open and unpack the
 * file behind `fd`; if it would unpack to too much, that is said. */
int jr_debugfile_is_bearable(int fd, const char *path, int is_common);

#endif
