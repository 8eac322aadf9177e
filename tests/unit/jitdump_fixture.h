/* SPDX-License-Identifier: MIT
 *
 * Builds jitdumps in memory, in either byte order, and reads the real ones of
 * tests/data/jit.
 * Runs in: unit tests, in the top folder of the sources. */
#ifndef JITDUMP_FIXTURE_H
#define JITDUMP_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    uint8_t *data;
    size_t size;
    int swapped; /* write the other byte order */
};

static inline void put(struct bytes *bytes, const void *data, size_t size)
{
    bytes->data = realloc(bytes->data, bytes->size + size + 1);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static inline void put32(struct bytes *bytes, uint32_t value)
{
    value = bytes->swapped ? __builtin_bswap32(value) : value;
    put(bytes, &value, sizeof value);
}

static inline void put64(struct bytes *bytes, uint64_t value)
{
    value = bytes->swapped ? __builtin_bswap64(value) : value;
    put(bytes, &value, sizeof value);
}

/* Stores a u32 over what is at `at`. */
static inline void poke32(struct bytes *bytes, size_t at, uint32_t value)
{
    value = bytes->swapped ? __builtin_bswap32(value) : value;
    memcpy(bytes->data + at, &value, sizeof value);
}

static inline void put_header(struct bytes *bytes, uint32_t version,
                              uint32_t size, uint64_t flags)
{
    const uint32_t start[] = {0x4A695444, version, size, 62, 0, 7};

    for (size_t i = 0; i < sizeof start / sizeof *start; i++)
        put32(bytes, start[i]);
    put64(bytes, 1700000000000000); /* of another clock, as V8 has it */
    if (size >= 40)
        put64(bytes, flags);
    for (uint32_t i = 40; i < size; i++)
        put(bytes, "", 1);
}

static inline void put_prefix(struct bytes *bytes, uint32_t type, size_t body,
                              uint64_t time_ns)
{
    put32(bytes, type);
    put32(bytes, (uint32_t)(16 + body));
    put64(bytes, time_ns);
}

/* A LOAD of `size` bytes of code, all of the byte 0xc3. */
static inline void put_load_of(struct bytes *bytes, uint32_t pid,
                               uint64_t time_ns, uint64_t start, uint32_t size,
                               const char *name)
{
    put_prefix(bytes, 0, 40 + strlen(name) + 1 + size, time_ns);
    put32(bytes, pid);
    put32(bytes, 0xdeadbeef); /* no thread's id */
    put64(bytes, 0);          /* vma, as LLVM writes it */
    put64(bytes, start);
    put64(bytes, size);
    put64(bytes, 1);
    put(bytes, name, strlen(name) + 1);
    for (uint32_t i = 0; i < size; i++)
        put(bytes, "\xc3", 1);
}

static inline void put_load(struct bytes *bytes, uint64_t time_ns,
                            uint64_t start, uint32_t size, const char *name)
{
    put_load_of(bytes, 7, time_ns, start, size, name);
}

static inline void put_move(struct bytes *bytes, uint64_t time_ns,
                            uint64_t from, uint64_t to, uint64_t size)
{
    put_prefix(bytes, 1, 48, time_ns);
    put32(bytes, 7);
    put32(bytes, 7);
    put64(bytes, to);
    put64(bytes, from);
    put64(bytes, to);
    put64(bytes, size);
    put64(bytes, 1);
}

struct entry {
    uint64_t address;
    uint32_t line, column;
    const char *file;
};

static inline void put_debug(struct bytes *bytes, uint64_t time_ns,
                             uint64_t start, const struct entry *entries,
                             size_t count)
{
    size_t body = 16;

    for (size_t i = 0; i < count; i++)
        body += 16 + strlen(entries[i].file) + 1;
    put_prefix(bytes, 2, body, time_ns);
    put64(bytes, start);
    put64(bytes, count);
    for (size_t i = 0; i < count; i++) {
        put64(bytes, entries[i].address);
        put32(bytes, entries[i].line);
        put32(bytes, entries[i].column);
        put(bytes, entries[i].file, strlen(entries[i].file) + 1);
    }
}

static inline void put_close(struct bytes *bytes, uint64_t time_ns)
{
    put_prefix(bytes, 3, 0, time_ns);
}

static inline void put_unwinding(struct bytes *bytes, uint64_t time_ns)
{
    put_prefix(bytes, 4, 24, time_ns);
    for (int i = 0; i < 3; i++)
        put64(bytes, 0);
}

/* The file below tests/data/jit, unpacked. */
static inline struct bytes real_dump(const char *name)
{
    struct bytes bytes = {0};
    char command[256], piece[4096];
    const char *tail = strrchr(name, '.');
    size_t got;
    FILE *file;

    snprintf(command, sizeof command, "%s tests/data/jit/%s",
             !strcmp(tail, ".xz")   ? "xz -dc"
             : !strcmp(tail, ".gz") ? "gzip -dc"
                                    : "cat",
             name);
    file = popen(command, "r");
    while (file && (got = fread(piece, 1, sizeof piece, file)) > 0)
        put(&bytes, piece, got);
    if (!file || pclose(file) != 0 || bytes.size == 0)
        abort();
    return bytes;
}

#endif
