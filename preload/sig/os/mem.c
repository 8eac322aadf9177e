/* SPDX-License-Identifier: MIT
 *
 * What the compiler and the handler take from string.h, by the same names,
 * hidden in this library.  Those of the C library may be interposed, by a
 * sanitizer's runtime above all: its functions take locks and write records of
 * the thread's, in which the handler may have interrupted it.  (The barriers
 * keep the compiler from making a loop a call of the function that it is in.)
 * Runs in: handler, any thread. */
#include <stddef.h>
#include <stdint.h>

#define JP_MEM __attribute__((visibility("hidden"), used))
#define BARRIER() __asm__ volatile("" ::: "memory")

/* A word at any address, of memory of any type (GCC's "may_alias").  (Where a
 * machine has no such access, a structure would be copied by memcpy.) */
typedef uint64_t any_word __attribute__((may_alias, aligned(1)));

JP_MEM void *memcpy(void *restrict to, const void *restrict from, size_t size);
JP_MEM void *memset(void *to, int byte, size_t size);
JP_MEM int memcmp(const void *left, const void *right, size_t size);
JP_MEM size_t strlen(const char *text);
JP_MEM int strncmp(const char *left, const char *right, size_t most);

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    unsigned char *into = to;
    const unsigned char *source = from;
    for (; size >= sizeof(any_word); size -= sizeof(any_word)) {
        *(any_word *)into = *(const any_word *)source;
        into += sizeof(any_word);
        source += sizeof(any_word);
        BARRIER();
    }
    for (; size != 0; size--) {
        *into++ = *source++;
        BARRIER();
    }
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    unsigned char *into = to;
    const any_word word = (unsigned char)byte * 0x0101010101010101ULL;
    for (; size >= sizeof(word); size -= sizeof(word)) {
        *(any_word *)into = word;
        into += sizeof(word);
        BARRIER();
    }
    for (; size != 0; size--) {
        *into++ = (unsigned char)byte;
        BARRIER();
    }
    return to;
}

int memcmp(const void *left, const void *right, size_t size)
{
    const unsigned char *a = left, *b = right;
    for (; size >= sizeof(any_word); size -= sizeof(any_word)) {
        if (*(const any_word *)a != *(const any_word *)b)
            break;
        a += sizeof(any_word);
        b += sizeof(any_word);
        BARRIER();
    }
    for (; size != 0; size--, a++, b++) {
        if (*a != *b)
            return *a < *b ? -1 : 1;
        BARRIER();
    }
    return 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++)
        BARRIER();
    return length;
}

int strncmp(const char *left, const char *right, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        const unsigned char a = (unsigned char)left[i];
        const unsigned char b = (unsigned char)right[i];
        if (a != b)
            return a < b ? -1 : 1;
        if (a == '\0')
            break;
        BARRIER();
    }
    return 0;
}
