/* SPDX-License-Identifier: MIT
 *
 * Memory that is there or ends the program, growing arrays, and an arena for
 * strings that live as long as the report.
 * Runs in: analyzer. */
#ifndef JR_MEM_H
#define JR_MEM_H

#include <stddef.h>

/* Says on stderr that memory is used up, and ends the program. */
void jr_no_memory(void) __attribute__((noreturn));

/* As their namesakes; out of memory prints one line and exits JR_FAILED.
 * Sizes are checked for overflow.  The caller frees the result. */
void *jr_alloc(size_t count, size_t size); /* zeroed */
void *jr_realloc(void *old, size_t count, size_t size);
char *jr_strdup(const char *text);
char *jr_strndup(const char *text, size_t length);
char *jr_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more element in an array of *room elements of which
 * `count` are used; returns the (possibly moved) array. */
void *jr_grow(void *array, size_t count, size_t *room, size_t size);

#define JR_PUSH(array, count, room)                                            \
    ((array) = jr_grow((array), (count), &(room), sizeof(*(array))),           \
     &(array)[(count)++])

#endif
