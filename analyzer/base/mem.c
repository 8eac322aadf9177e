/* SPDX-License-Identifier: MIT
 *
 * Memory that is there or ends the program, and growing arrays.
 * Runs in: analyzer. */
#include "mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

#define FIRST_ROOM 16 /* elements of an array's first block */

void jr_no_memory(void)
{
    jr_say("out of memory");
    exit(JR_FAILED);
}

void *jr_alloc(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size ? size : 1);

    if (!block)
        jr_no_memory();
    return block;
}

void *jr_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    void *block;

    if (__builtin_mul_overflow(count, size, &bytes))
        jr_no_memory();
    block = realloc(old, bytes ? bytes : 1);
    if (!block)
        jr_no_memory();
    return block;
}

char *jr_strdup(const char *text)
{
    return jr_strndup(text, strlen(text));
}

char *jr_strndup(const char *text, size_t length)
{
    size_t bytes = strnlen(text, length);
    char *copy = jr_realloc(NULL, bytes + 1, 1);

    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

char *jr_printf(const char *format, ...)
{
    char *text;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        jr_no_memory();
    va_end(args);
    return text;
}

void *jr_grow(void *array, size_t count, size_t *room, size_t size)
{
    size_t wanted = *room ? *room : FIRST_ROOM;

    if (count < *room)
        return array;
    while (wanted <= count) {
        if (__builtin_mul_overflow(wanted, 2, &wanted))
            jr_no_memory();
    }
    array = jr_realloc(array, wanted, size);
    *room = wanted;
    return array;
}
