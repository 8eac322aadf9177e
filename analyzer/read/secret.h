/* SPDX-License-Identifier: MIT
 *
 * Arguments of commands, as reports show them: without what looks like a
 * password.
 * Runs in: analyzer. */
#ifndef JR_SECRET_H
#define JR_SECRET_H

#include <stddef.h>

/* The arguments in bytes[0..size), a NUL behind each, joined by blanks, with
 * *** in place of values after --password=, --token and the like, and of a
 * password in an address; allocated. */
char *jr_join_args(const char *bytes, size_t size);

/* Switches the masking off: jr_join_args shows secrets from then on. */
void jr_secrets_show(void);

#endif
