/* SPDX-License-Identifier: MIT
 *
 * A program whose jitdump describes less than runs:
 *     stale DUMP
 * `old_code` runs for a while; then other code, which DUMP does not describe,
 * lies at its address and calls on, by a function of this file, to `good_code`,
 * which is described.  Ends by SIGKILL.
 * Runs in: tests; x86-64 only. */
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE 64           /* of each piece of code, in the dump */
#define APART (16 * 4096) /* neighbouring pages are looked at together */

/* void count(uint64_t turns), with a frame pointer. */
static const uint8_t count[SIZE] = {0x55, 0x48, 0x89,
                                    0xe5, /* push %rbp; mov %rsp,%rbp */
                                    0x48, 0x89, 0xf9, /* mov %rdi,%rcx */
                                    0x48, 0xff, 0xc9, /* dec %rcx */
                                    0x75, 0xfb,       /* jne to the dec */
                                    0x5d, 0xc3};      /* pop %rbp; ret */
/* void call(void (*function)(void)), with a frame pointer. */
static const uint8_t call[] = {0x55, 0x48, 0x89, 0xe5, /* as above */
                               0xff, 0xd7,             /* call *%rdi */
                               0x5d, 0xc3};

static char *memory;

typedef void (*called)(void);

static void go(char *code, called function)
{
    void (*jit)(called);
    *(void **)&jit = code;
    jit(function);
    BARRIER();
}

static void spin(void)
{
    for (volatile int i = 0; i < 200000; i++)
        BARRIER();
}

static void middle(void)
{
    go(memory, spin);
    BARRIER();
}

static void put(int fd, const void *data, size_t size)
{
    if (write(fd, data, size) != (ssize_t)size)
        die("write");
}

static void describe(int fd, const char *name, const char *at)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint32_t head[2] = {0, (uint32_t)(56 + strlen(name) + 1 + SIZE)};
    const uint64_t rest[6] = {(uint64_t)now.tv_sec * 1000000000 +
                                  (uint64_t)now.tv_nsec,
                              (uint64_t)getpid() << 32 | (uint64_t)getpid(),
                              (uint64_t)at,
                              (uint64_t)at,
                              SIZE,
                              (uint64_t)at};
    put(fd, head, sizeof(head));
    put(fd, rest, sizeof(rest));
    put(fd, name, strlen(name) + 1);
    put(fd, at, SIZE);
}

int main(int argc, char **argv)
{
    const uint32_t header[] = {0x4a695444,         1, 40, 62, 0,
                               (uint32_t)getpid(), 0, 0,  0,  0};
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;
    if (fd < 0)
        die("open");
    put(fd, header, sizeof(header));
    memory = mmap(NULL, (size_t)2 * APART, PROT_READ | PROT_WRITE | PROT_EXEC,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                                     MAP_PRIVATE, fd, 0) == MAP_FAILED)
        die("mmap");
    char *old = memory + APART;
    memcpy(memory, call, sizeof(call));
    memcpy(old, count, SIZE);
    describe(fd, "good_code", memory);
    describe(fd, "old_code", old);
    void (*counts)(uint64_t);
    *(void **)&counts = old;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < 0.5)
        counts(1000000);
    /* What was hit is looked at before it changes. */
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < 0.8)
        middle();
    memset(old, 0xcc, SIZE);
    memcpy(old, call, sizeof(call));
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < 1.5)
        go(old, middle);
    raise(SIGKILL);
    return 0;
}
