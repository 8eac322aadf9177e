/* SPDX-License-Identifier: MIT
 *
 * The Debian packages that files are from.
 * Runs in: analyzer. */
#ifndef JR_PACKAGE_H
#define JR_PACKAGE_H

#include <stddef.h>

/* Sets packages[i] to the package with the debug information of the file
 * paths[i], or NULL where dpkg does not know the file or is not there.  The
 * caller frees them. */
void jr_package_debug(const char *const *paths, size_t count, char **packages);

#endif
