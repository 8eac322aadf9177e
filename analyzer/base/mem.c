/* SPDX-License-Identifier: MIT
 *
 * Memory that is there or ends the program, and growing arrays.
 * Runs in: analyzer. */
#include "mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "diag.h"

#define FIRST_ROOM 16 /* elements of an array's first block */

/* Blocks of LARGE bytes and more are looked up all over: where the kernel can,
 * it backs them by pages of HUGE bytes (Documentation/admin-guide/mm/
 * transhuge.rst), so that a look-up seldom misses the TLB. */
#define HUGE ((size_t)2 << 20)
#define LARGE (2 * HUGE)

void jr_no_memory(void)
{
    jr_say("out of memory");
    exit(JR_FAILED);
}

/* Asks for huge pages for the whole ones in a block.  A refusal costs time
 * only. */
static void want_huge(void *block, size_t bytes)
{
    const uintptr_t from = ((uintptr_t)block + HUGE - 1) & ~(HUGE - 1);
    const uintptr_t to = ((uintptr_t)block + bytes) & ~(HUGE - 1);

    if (to > from)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
}

void *jr_alloc(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size ? size : 1);

    if (!block)
        jr_no_memory();
    if (count * size >= LARGE)
        want_huge(block, count * size);
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

/* A copy of an array in a larger block, which it frees.  (mremap, as realloc
 * moves a large block, would take its huge pages apart.) */
static void *move(void *array, size_t bytes, size_t larger)
{
    void *block = malloc(larger);

    if (!block)
        jr_no_memory();
    want_huge(block, larger);
    memcpy(block, array, bytes);
    free(array);
    return block;
}

void *jr_grow(void *array, size_t count, size_t *room, size_t size)
{
    size_t wanted = *room ? *room : FIRST_ROOM, bytes;

    if (count < *room)
        return array;
    while (wanted <= count) {
        if (__builtin_mul_overflow(wanted, 2, &wanted))
            jr_no_memory();
    }
    if (*room && !__builtin_mul_overflow(wanted, size, &bytes) &&
        bytes >= LARGE)
        array = move(array, *room * size, bytes);
    else
        array = jr_realloc(array, wanted, size);
    *room = wanted;
    return array;
}
