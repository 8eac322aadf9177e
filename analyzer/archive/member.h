/* SPDX-License-Identifier: MIT
 *
 * The files that an archive of a profile has.
 * Runs in: analyzer. */
#ifndef JR_MEMBER_H
#define JR_MEMBER_H

#define JR_MEMBER_NAMES "jprof-names" /* of functions (symbol/archived) */

#define JR_MEMBER_SOURCE "jprof-source-" /* and a number (symbol/listing) */

/* True for the name of a file of a profile: a log, a map, the tree's file, what
 * was kept of JIT code, Firefox's markers.  Such a name leads to no other
 * folder. */
int jr_member_is_file(const char *name);

/* True for these and for what an archive has beside them. */
int jr_member_is_known(const char *name);

#endif
